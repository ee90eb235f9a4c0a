import { CRAWLERS } from '@sallyport/data/crawlers'
import { BROWSERS, MAIL_PROGRAMS, READING } from './common-rules.ts'
import type { PerMinute, PresetRow } from './preset-row.ts'

/** Names under which libraries and tools of copying come unless somebody gives them another. Those of applications, as okhttp, are people's. */
export const LIBRARIES = [
  'aiohttp',
  'AHC',
  'Apache-HttpAsyncClient',
  'Apache-HttpClient',
  'axios',
  'Bun',
  'colly',
  'curl',
  'Deno',
  'EventMachine HttpClient',
  'excon',
  'Faraday',
  'fasthttp',
  'go-resty',
  'Go-http-client',
  'Google-HTTP-Java-Client',
  'got',
  'Guzzle',
  'GuzzleHttp',
  'hackney',
  'http.rb',
  'HTTP-Tiny',
  'HTTP_Request2',
  'HTTPie',
  'HTTrack',
  'Jakarta Commons-HttpClient',
  'Java',
  'Java-http-client',
  'Jersey',
  'libcurl',
  'libcurl-agent',
  'libwww-perl',
  'lua-resty-http',
  'LWP::Simple',
  'lwp-trivial',
  'Mechanize',
  'Needle',
  'niquests',
  'node',
  'node-fetch',
  'node-superagent',
  'PHP',
  'PycURL',
  'python-httpx',
  'Python-httplib2',
  'python-requests',
  'Python-urllib',
  'python-urllib3',
  'ReactorNetty',
  'req',
  'reqwest',
  'rest-client',
  'RestSharp',
  'Ruby',
  'Scrapy',
  'superagent',
  'Symfony HttpClient',
  'Typhoeus',
  'undici',
  'unirest-java',
  'Wget',
  'Wget2',
  'WWW-Mechanize',
  // Python/3.11 aiohttp/3.9.1
  'Python/* aiohttp',
].flatMap((name) => [`=${name}`, `${name}/*`, `${name} *`])

/** Methods that send. */
export const SENDS = { not: { method: [...READING, 'OPTIONS'] } } as const

const HELPERS = { purpose: ['preview', 'monitor', 'feed', 'federation'] } as const

/** Words by which services name themselves that are in no catalogue, and names of programs that install and update. */
const SERVICE_WORDS = [
  'activitypub',
  'calendar',
  'checker',
  'checklink',
  'federation',
  'feed',
  'health',
  'imageproxy',
  'image proxy',
  'mailproxy',
  'monitor',
  'pingdom',
  'podcast',
  'preview',
  'probe',
  'rss',
  'status',
  'unfurl',
  'uptime',
  'validator',
  'webhook',
].map((word) => `*${word}*`)
const UPDATERS = [
  'apk-tools',
  'Apache-Maven',
  'buildah',
  'bundler',
  'cargo',
  'Composer',
  'containerd',
  'cri-o',
  'Debian APT-HTTP',
  'dnf',
  'docker',
  'git',
  'git-lfs',
  'Gradle',
  'Helm',
  'Homebrew',
  'JGit',
  'libdnf',
  'npm',
  'NuGet',
  'pacman',
  'pip',
  'pnpm',
  'podman',
  'Ruby, RubyGems',
  'skopeo',
  'uv',
  'yarn',
].flatMap((name) => [`${name}/*`, `${name} *`])
const OBJECTS = ['*application/activity+json*', '*application/ld+json*']

/** Feeds end their path with the word, or with their format behind it: `/blog/feed/`, `/feed/atom`. An API has more below. */
const FEED_WORDS = ['feed', 'feeds', 'rss', 'atom']
const FORMATS = ['atom', 'rdf', 'rss', 'rss2']
const FOLDERS = ['', '/*', '/*/*', '/*/*/*', '/*/*/*/*', '/*/*/*/*/*']
const FEED_PATHS = [
  ...FOLDERS.flatMap((folder) => FEED_WORDS.map((word) => `${folder}/${word}`)),
  ...FOLDERS.flatMap((folder) => FORMATS.map((format) => `${folder}/feed/${format}`)),
  // Medium, Blogger, YouTube and podcasts.
  '/feed/*',
  '/feed/*/*',
  '/feeds/*',
  '/feeds/*/*',
  '/rss/*',
].flatMap((path) => [path, `${path}/`])
const FEED_FILES = [
  '*.rss',
  '*.atom',
  'rss.xml',
  'atom.xml',
  'feed.xml',
  'index.xml',
  'feed.json',
  'podcast.xml',
].flatMap((name) => FOLDERS.map((folder) => `${folder}/${name}`))
const APIS = ['api', 'rest', 'graphql', 'v1', 'v2', 'v3'].flatMap((name) => [`/${name}/**`, `/*/${name}/**`])

/** Places of a site that give a feed for a word of the query; on any other page the word would open the page. */
const INDEXES = ['/', '/index.php', '/*', '/*/index.php']
const FEED_LIMIT = {
  perMinute: { client: 120, prefix: 240, asn: 600, class: 1_200 },
  then: 'allow',
  action: 'throttle',
} as const

/** Feeds pass under any name, within a limit. */
export const FEEDS: readonly PresetRow[] = [
  {
    id: 'feeds',
    match: { path: [...FEED_PATHS, ...FEED_FILES], not: { path: APIS }, method: READING },
    ...FEED_LIMIT,
    why: 'feed readers run on servers under any name; two requests a second from one address are a scraper',
  },
  {
    id: 'feeds-wordpress',
    match: { path: INDEXES, query: { feed: ['rss', 'rss2', 'atom', 'rdf', 'podcast', 'comments-*'] }, method: READING },
    ...FEED_LIMIT,
    why: 'feeds by a query, at the place where a site has them',
  },
  {
    id: 'feeds-format',
    match: { path: INDEXES, query: { format: ['feed', ...FORMATS] }, method: READING },
    ...FEED_LIMIT,
    why: 'the same of Joomla and others',
  },
  {
    id: 'feeds-type',
    match: { query: { format: ['feed'], type: ['rss', 'atom'] }, method: READING },
    ...FEED_LIMIT,
    why: 'the same of Joomla below a menu',
  },
]

/** Pages a minute of clients on servers, VPNs and proxies, and of those with a name that lets them through. */
export const SERVER_PAGES: PerMinute = { client: 60, prefix: 240, asn: 600, class: 1_200 }

/** The counts under a name that nobody proves: so many requests of a client, and of many clients no more pages than under any name. */
function named(client: number): Pick<PresetRow, 'pages' | 'perMinute'> {
  return { pages: { ...SERVER_PAGES, client: undefined }, perMinute: { client } }
}

const MAIL_PROXIES = ['google-image-proxy', 'yahoo-mail-proxy']
/** By their slugs, because a bare claim would not exclude the mail proxies, which have a count of their own. */
const HELPER_CRAWLERS = CRAWLERS.filter(
  ({ slug, purpose }) => ['preview', 'monitor', 'feed'].includes(purpose) && !MAIL_PROXIES.includes(slug),
).map(({ slug }) => slug)

/** Services whose requests many people share, or that come as often as people write. They come before `helpers`. */
export const SERVICES: readonly PresetRow[] = [
  {
    id: 'mail',
    match: { crawler: MAIL_PROXIES, method: READING },
    limit: { key: 'client', max: 600, window: '1m' },
    action: 'throttle',
    why: 'mail services load the images of a newsletter for all of its readers',
  },
  {
    id: 'mail-programs',
    match: { userAgent: MAIL_PROGRAMS, method: READING },
    ...named(120),
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'mail programs read calendars and images, and show no page',
  },
  {
    id: 'federation',
    match: { purpose: ['federation'] },
    pages: { client: 300, prefix: 600, asn: 3_000 },
    perMinute: { client: 300, prefix: 3_000, asn: 30_000 },
    action: 'throttle',
    why: 'servers of the fediverse, hundreds of which share a system; they read objects, and pages for previews alone',
  },
  {
    id: 'objects',
    match: {
      basis: ['automation', 'network', 'none'],
      headerValue: { accept: OBJECTS },
      header: { present: ['user-agent'] },
      method: READING,
      not: { userAgent: [...BROWSERS, ...LIBRARIES] },
    },
    ...named(120),
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'the same under a name that is not in the catalogue; libraries are no servers',
  },
  {
    id: 'updaters',
    match: { userAgent: UPDATERS, method: READING },
    ...named(300),
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'git, containers and packages come in many small requests',
  },
  {
    id: 'services',
    match: { basis: ['automation'], userAgent: SERVICE_WORDS, method: READING },
    ...named(60),
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'monitors, previews, calendars and podcasts under names that are not in the catalogue',
  },
  {
    id: 'relay-programs',
    match: { basis: ['automation'], provider: ['iCloud Private Relay'], method: READING },
    limit: { key: 'client', max: 120, window: '1m' },
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'the mail application of Apple loads images through the relay',
  },
]

export const HELPER_LIMIT: PresetRow = {
  id: 'helpers',
  match: { crawler: HELPER_CRAWLERS, method: READING },
  perMinute: { client: 60, asn: 3_000 },
  action: 'throttle',
  why: 'unproven previews, monitors and feed readers, with counts of their own',
}

export const HELPERS_SENDING: PresetRow = {
  id: 'helpers-sending',
  match: { ...SENDS, ...HELPERS },
  perMinute: { client: 300, asn: 3_000 },
  action: 'throttle',
  why: 'their webhooks, which come in bursts',
}

export const HELPERS_SEEN: PresetRow = {
  id: 'helpers-seen',
  match: HELPERS,
  action: 'flag',
  why: 'within these limits they pass, and are in the log',
}

/** Applications of people come through companies' gateways and WARP, where one address is that of many. */
export const SERVER_APPS: PresetRow = {
  id: 'server-apps',
  match: { basis: ['network'], method: READING, not: { userAgent: BROWSERS } },
  pages: SERVER_PAGES,
  perMinute: { client: 600, prefix: 2_400 },
  action: 'throttle',
  why: 'applications of people, by their libraries, behind VPNs and gateways of companies; they read few pages',
}
