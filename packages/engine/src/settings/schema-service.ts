import { Resolver } from 'node:dns'
import { z } from 'zod'
import { ADDRESS_FORMS, LOG_FORMATS, LOGGED_REQUESTS } from '#log'
import { FILE, key, SECRET } from './key.ts'
import { HTTP, Listen } from './schema-edge.ts'

/* Settings of a service's sources and outputs: data, names, registries, the ledger, counts, the log, the console. */

export const Strings = z.array(z.string())

const NO_URL = 'must be a URL with a port up to 65535. Escape special characters in the password, such as %23 for #'

export const Api = z.strictObject({
  enabled: key(z.boolean().default(true), 'Whether /v1 is served', false),
  base: key(
    z
      .string()
      .regex(/^(\/[^/?#]+)*$/, 'must be empty or a path without a trailing slash')
      .default(''),
    'Prefix of /v1, if the origin has its own /v1',
    '/detect',
  ),
  plans: key(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be a plan name of lower-case letters, digits and -'),
        z.union([z.int().positive(), z.literal('unlimited')], 'must be a number of calls, at least 1, or unlimited'),
      )
      .prefault({}),
    'Account plans by name: calls per month, or unlimited. They extend or change the built-in plans',
    { free: 1_000, team: 250_000 },
  ),
})

export const Store = z
  .string()
  .regex(/^(sqlite:.+|postgres(ql)?:\/\/\S+)$/, 'must be sqlite:<path> or postgres://user:password@host:port/database')
  .refine((text) => text.startsWith('sqlite:') || isServerUrl(text), NO_URL)

export const Redis = z
  .string()
  .regex(/^rediss?:\/\/\S+$/, 'must be redis://host:port')
  .refine(isServerUrl, NO_URL)
  .refine(hasDatabaseNumber, 'must end with the port or a database number: redis://host:port/1')

/** The client throws an error of its own at another path. */
function hasDatabaseNumber(text: string): boolean {
  return !URL.canParse(text) || /^\/?\d{0,5}$/.test(new URL(text).pathname)
}

/** Drivers throw errors of their own at what is no URL; of a text in no such form that is said already. */
function isServerUrl(text: string): boolean {
  if (!/^\w+:\/\/\S+$/.test(text)) return true
  try {
    const { username, password, pathname } = new URL(text)
    return [username, password, pathname].every((part) => typeof decodeURIComponent(part) === 'string')
  } catch {
    return false
  }
}

const Source = z
  .strictObject({
    url: key(
      z.string(),
      'Source URL (http, https or file:); absent: the published URL',
      'file:/srv/lists/vpn-ipv4.txt',
    ),
    enabled: key(z.boolean(), 'Whether the source is used; absent: as in data/sources.json', true),
    key: key(z.string(), 'Publisher key, as account:secret; absent: none', 'file:/run/secrets/maxmind', SECRET),
  })
  .partial()

export const Data = z.strictObject({
  refresh: key(
    z.boolean().default(true),
    'Whether a running service downloads feeds when due; false: use sallyport data update',
    false,
  ),
  readOnly: key(z.boolean().default(false), 'Whether dataDir is read-only, such as compiled data in an image', true),
  city: key(z.boolean().default(true), 'Whether cities are loaded; without them, data is two thirds smaller', false),
  requireFresh: key(z.boolean().default(false), 'Whether the proxy reports unready while data is stale', true),
  mirror: key(
    z.url(HTTP).optional(),
    'Mirror of published feeds, each at <mirror>/<id>; absent: the publishers',
    'https://lists.example/sallyport',
  ),
  sources: z.record(z.string(), Source).default({}).describe('Sources by ID, as shown by data status --all'),
})

/** Whether Node's resolver takes it: of some it throws an error of its own, and of a port beyond all it takes a part. */
function isResolver(text: string): boolean {
  const [, port = 0] = /^[^[\]:]*:(\d{1,9})$/.exec(text.replace(/^\[[^\]]*\]/, '')) ?? []
  try {
    new Resolver().setServers([text])
    return Number(port) <= 65_535
  } catch {
    return false
  }
}

const Resolvers = z.array(z.string().refine(isResolver, 'must be an address or address:port'))

export const Dns = z.strictObject({
  servers: key(Resolvers.default([]), 'Resolvers, as address or address:port; empty: system resolvers', ['10.0.0.53']),
  timeoutMs: key(z.int().min(10).max(30_000).default(500), 'DNS timeout', 800, {
    unit: 'milliseconds',
  }),
  reverseNames: key(
    z.boolean().default(false),
    'Whether reverse names of visitors from hosting, unknown and doubtful networks are resolved in the background; the resolver sees their addresses',
    true,
  ),
})

export const Whois = z.strictObject({
  servers: key(
    z.record(z.string().regex(/^[a-z0-9-]+$/, 'must be a top-level domain'), Listen).default({}),
    'WHOIS servers by top-level domain; they override built-in servers',
    { de: 'whois.example.net:43' },
  ),
})

export const WebBotAuth = z.strictObject({
  agents: key(
    z.array(z.union([z.literal('*'), z.url(HTTP)], 'must be an http or https URL, or *')).default([]),
    "Agents whose keys are fetched, besides the catalogue's: origins, or URLs of key sets and cards; *: any agent that names its keys",
    ['https://agent.example'],
  ),
  authorityHeader: key(
    z
      .string()
      .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'is not a header name')
      .optional(),
    "Header in which trusted proxies pass the client's Host; absent: Host",
    'x-forwarded-host',
  ),
})

export const Provenance = z.strictObject({
  policy: key(
    z.string().min(1).optional(),
    'Jurisdiction policy, YAML or JSON; absent: built-in',
    './jurisdictions.yaml',
    FILE,
  ),
  signingKey: key(
    z.string().min(1).optional(),
    'Ed25519 private key: PEM file of mode 0600, or env:NAME; absent: generated in dataDir',
    '/etc/sallyport/ledger.pem',
  ),
  account: key(
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be an account ID: letters, digits, ., _ and -')
      .default('site'),
    'Account whose log records inline attestations and whose key exports them',
    'shop',
  ),
  retentionDays: key(
    z.union([z.literal(false), z.int().min(1).max(36_500)]).default(365),
    'Days until addresses and contexts are erased from the ledger; records remain',
    30,
    { unit: 'days' },
  ),
})

/** Guesses are not bounded, so that nobody is locked out by them: a token has to be one that is not guessed. */
const ConsoleToken = z
  .string()
  .regex(/^[\x21-\x7e]{16,512}$/, 'must have at least 16 characters, without spaces')
  .refine((text) => new Set(text).size >= 8, 'must have at least 8 different characters: openssl rand -base64 24')
  .optional()

export const Console = z.strictObject({
  enabled: key(z.boolean().default(true), 'Whether the admin listener serves the console', false),
  adminToken: key(
    ConsoleToken,
    'Administrator token; absent: <dataDir>/console-token',
    'file:/run/secrets/console-admin',
    SECRET,
  ),
  steerToken: key(
    ConsoleToken,
    'Token that also allows lifting bans, changing lists and updating data; absent: none',
    'file:/run/secrets/console-steer',
    SECRET,
  ),
  readToken: key(ConsoleToken, 'Read-only token; absent: none', 'file:/run/secrets/console-read', SECRET),
})

/** Places of counts. */
const COUNTING_PLACES = ['auto', 'memory', 'dataDir'] as const

export const Counting = z.strictObject({
  place: key(
    z.enum(COUNTING_PLACES).default('auto'),
    'Place of counters; auto: redis if set, dataDir for cluster workers, else memory',
    'dataDir',
  ),
})

export const Log = z.strictObject({
  requests: key(
    z.enum(LOGGED_REQUESTS).default('decided'),
    'Requests to log; decided: not allowed, or matched by a dry run',
    'all',
  ),
  addresses: key(
    z.enum(ADDRESS_FORMS).default('full'),
    'Form of addresses in the log, notifications and console, but not in bans, overrides and attestations; truncated: to /24 and /48; hashed: with a daily key',
    'truncated',
  ),
  sample: key(z.number().min(0).max(1).default(1), 'Share of allowed requests that `all` logs', 0.1, {
    unit: 'share',
  }),
  format: key(z.enum(LOG_FORMATS).default('plain'), "Field names: Sallyport's, ECS or OpenTelemetry", 'ecs'),
  file: key(
    z.string().min(1).optional(),
    'File to append lines to; absent: standard output',
    '/var/log/sallyport/decisions.log',
  ),
})
