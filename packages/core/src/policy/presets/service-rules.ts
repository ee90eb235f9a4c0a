import { CRAWLERS } from '@sallyport/data/crawlers'
import { BROWSERS, MAIL_PROGRAMS, READING } from './common-rules.ts'
import { makeRow, type PerMinute, type PresetRow } from './preset-row.ts'

/** Libraries and copying tools have these names unless a user renames them. Names of applications, as okhttp, belong to people. */
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

export const SENDS = { not: { method: [...READING, 'OPTIONS'] } } as const

const HELPERS = { purpose: ['preview', 'monitor', 'feed', 'federation'] } as const

/** Services that no catalogue lists name themselves by these words; programs that install and update have these names. */
const SERVICE_WORDS = (
  'activitypub, calendar, checker, checklink, federation, feed, health, imageproxy, image proxy, mailproxy, monitor, pingdom, ' +
  'podcast, preview, probe, rss, status, unfurl, uptime, validator, webhook'
)
  .split(', ')
  .map((word) => `*${word}*`)
const UPDATERS = (
  'apk-tools; Apache-Maven; buildah; bundler; cargo; Composer; containerd; cri-o; Debian APT-HTTP; dnf; docker; ' +
  'git; git-lfs; Gradle; Helm; Homebrew; JGit; libdnf; npm; NuGet; pacman; pip; pnpm; podman; Ruby, RubyGems; skopeo; uv; yarn'
)
  .split('; ')
  .flatMap((name) => [`${name}/*`, `${name} *`])
const OBJECTS = ['*application/activity+json*', '*application/ld+json*']

/** A feed's path ends with the word, or with the format behind it: `/blog/feed/`, `/feed/atom`. An API has more below. */
const FEED_WORDS = ['feed', 'feeds', 'rss', 'atom']
const FORMATS = ['atom', 'rdf', 'rss', 'rss2']
const FOLDERS = ['', '/*', '/*/*', '/*/*/*', '/*/*/*/*', '/*/*/*/*/*']
const FEED_PATHS = [
  ...FOLDERS.flatMap((folder) => FEED_WORDS.map((word) => `${folder}/${word}`)),
  ...FOLDERS.flatMap((folder) => FORMATS.map((format) => `${folder}/feed/${format}`)),
  // Medium, Blogger, YouTube and podcasts have these paths.
  '/feed/*',
  '/feed/*/*',
  '/feeds/*',
  '/feeds/*/*',
  '/rss/*',
].flatMap((path) => [path, `${path}/`])
const FEED_NAMES = ['*.rss', '*.atom', 'rss.xml', 'atom.xml', 'feed.xml', 'index.xml', 'feed.json', 'podcast.xml']
const FEED_FILES = FEED_NAMES.flatMap((name) => FOLDERS.map((folder) => `${folder}/${name}`))
const APIS = ['api', 'rest', 'graphql', 'v1', 'v2', 'v3'].flatMap((name) => [`/${name}/**`, `/*/${name}/**`])

/** These places of a site give a feed for a word of the query; on any other page the word would open the page. */
const INDEXES = ['/', '/index.php', '/*', '/*/index.php']
const FEED_LIMIT = {
  perMinute: { client: 120, prefix: 240, asn: 600, class: 1_200 },
  then: 'allow',
  action: 'throttle',
} as const

/** Feeds are open under any name, within a limit. */
export const FEEDS: readonly PresetRow[] = [
  makeRow('feeds', 'feed readers run on servers under any name; a faster client is a scraper', {
    match: { path: [...FEED_PATHS, ...FEED_FILES], not: { path: APIS }, method: READING },
    ...FEED_LIMIT,
  }),
  makeRow('feeds-wordpress', 'feeds by a query, as in WordPress', {
    match: { path: INDEXES, query: { feed: ['rss', 'rss2', 'atom', 'rdf', 'podcast', 'comments-*'] }, method: READING },
    ...FEED_LIMIT,
  }),
  makeRow('feeds-format', 'feeds by a query, as in Joomla', {
    match: { path: INDEXES, query: { format: ['feed', ...FORMATS] }, method: READING },
    ...FEED_LIMIT,
  }),
  makeRow('feeds-type', 'feeds below a Joomla menu', {
    match: { query: { format: ['feed'], type: ['rss', 'atom'] }, method: READING },
    ...FEED_LIMIT,
  }),
]

/** Clients on servers, VPNs and proxies, and clients that pass by their name, get these pages a minute. */
export const SERVER_PAGES: PerMinute = { client: 60, prefix: 240, asn: 600, class: 1_200 }

/** Admits under an unproven name: `client` requests of one client, and of many clients no more pages than under any name. */
function admitByName(client: number): Omit<PresetRow, 'id' | 'match' | 'why'> {
  const counts = { pages: { ...SERVER_PAGES, client: undefined }, perMinute: { client } }
  return { ...counts, then: 'allow', trustClaim: true, action: 'throttle' }
}

const MAIL_PROXIES = ['google-image-proxy', 'yahoo-mail-proxy']
/** Slugs name these crawlers, because a bare claim would not exclude the mail proxies, which have a count of their own. */
const HELPER_CRAWLERS = CRAWLERS.filter(
  ({ slug, purpose }) => ['preview', 'monitor', 'feed'].includes(purpose) && !MAIL_PROXIES.includes(slug),
).map(({ slug }) => slug)

/** Many people share the requests of these services, or they come as often as people write. They come before `helpers`. */
export const SERVICES: readonly PresetRow[] = [
  makeRow('mail', "mail services load a newsletter's images for all its readers", {
    match: { crawler: MAIL_PROXIES, method: READING },
    limit: { key: 'client', max: 600, window: '1m' },
    action: 'throttle',
  }),
  makeRow('mail-programs', 'mail programs load calendars and images, and cannot show a challenge', {
    match: { userAgent: MAIL_PROGRAMS, method: READING },
    ...admitByName(120),
  }),
  makeRow('federation', 'Fediverse servers load objects, and pages only for previews; hundreds share one AS', {
    match: { purpose: ['federation'] },
    pages: { client: 300, prefix: 600, asn: 3_000 },
    perMinute: { client: 300, prefix: 3_000, asn: 30_000 },
    action: 'throttle',
  }),
  makeRow('objects', 'Fediverse servers that the catalogue does not list', {
    match: {
      basis: ['automation', 'network', 'none'],
      headerValue: { accept: OBJECTS },
      header: { present: ['user-agent'] },
      method: READING,
      not: { userAgent: [...BROWSERS, ...LIBRARIES] },
    },
    ...admitByName(120),
  }),
  makeRow('updaters', 'git, containers and packages need many small requests', {
    match: { userAgent: UPDATERS, method: READING },
    ...admitByName(300),
  }),
  makeRow('services', 'monitors, previews, calendars and podcasts that the catalogue does not list', {
    match: { basis: ['automation'], userAgent: SERVICE_WORDS, method: READING },
    ...admitByName(60),
  }),
  makeRow('relay-programs', 'Apple Mail loads images through iCloud Private Relay', {
    match: { basis: ['automation'], provider: ['iCloud Private Relay'], method: READING },
    limit: { key: 'client', max: 120, window: '1m' },
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
  }),
]

export const HELPER_LIMIT = makeRow('helpers', 'unverified previews, monitors and feed readers', {
  match: { crawler: HELPER_CRAWLERS, method: READING },
  perMinute: { client: 60, asn: 3_000 },
  action: 'throttle',
})

export const HELPERS_SENDING = makeRow('helpers-sending', 'webhooks of these services arrive in bursts', {
  match: { ...SENDS, ...HELPERS },
  perMinute: { client: 300, asn: 3_000 },
  action: 'throttle',
})

export const HELPERS_SEEN = makeRow('helpers-seen', 'the log names these services within their limits', {
  match: HELPERS,
  action: 'flag',
})

/** Applications of people come through companies' gateways and WARP, where many people share one address. */
export const SERVER_APPS = makeRow('server-apps', 'applications of people behind VPNs and company gateways', {
  match: { basis: ['network'], method: READING, not: { userAgent: BROWSERS } },
  pages: SERVER_PAGES,
  perMinute: { client: 600, prefix: 2_400 },
  action: 'throttle',
})
