import { CRAWLERS } from '@sallyport/data/crawlers'
import { BROWSERS, MAIL_PROGRAMS, READING } from './common-rules.ts'
import type { PresetRow } from './preset-row.ts'

/** Names under which libraries and tools of copying come unless somebody gives them another (D417). */
export const LIBRARIES = [
  'aiohttp',
  'Apache-HttpClient',
  'axios',
  'colly',
  'curl',
  'Go-http-client',
  'GuzzleHttp',
  'HTTrack',
  'Java',
  'libwww-perl',
  'node',
  'node-fetch',
  'PHP',
  'python-httpx',
  'python-requests',
  'Python-urllib',
  'Ruby',
  'Scrapy',
  'undici',
  'Wget',
].flatMap((name) => [name, `${name}/*`, `${name} *`])

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
const FEED_LIMIT = { limit: { key: 'client', max: 120, window: '1m' }, then: 'allow', action: 'throttle' } as const

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
    limit: { key: 'client', max: 120, window: '1m' },
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'mail programs read calendars and images, and show no page',
  },
  {
    id: 'federation',
    match: { purpose: ['federation'] },
    perMinute: { client: 300, prefix: 3_000, asn: 30_000 },
    action: 'throttle',
    why: 'servers of the fediverse, hundreds of which share a system',
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
    limit: { key: 'client', max: 120, window: '1m' },
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'the same under a name that is not in the catalogue; libraries are no servers',
  },
  {
    id: 'updaters',
    match: { userAgent: UPDATERS, method: READING },
    limit: { key: 'client', max: 300, window: '1m' },
    then: 'allow',
    trustClaim: true,
    action: 'throttle',
    why: 'git, containers and packages come in many small requests',
  },
  {
    id: 'services',
    match: { basis: ['automation'], userAgent: SERVICE_WORDS, method: READING },
    limit: { key: 'client', max: 60, window: '1m' },
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
  perMinute: { client: 600, prefix: 2_400 },
  action: 'throttle',
  why: 'applications of people, by their libraries, behind VPNs and gateways of companies',
}
