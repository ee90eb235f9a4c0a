import { Resolver } from 'node:dns'
import { z } from 'zod'
import { ADDRESS_FORMS, LOG_FORMATS, LOGGED_REQUESTS } from '#log'
import { FILE, key, SECRET } from './key.ts'
import { HTTP, Listen } from './schema-edge.ts'

/* Settings of a service's sources and outputs: data, names, registries, the ledger, counts, the log, the console. */

export const Strings = z.array(z.string())

const NO_ORIGIN = 'must be an origin, as https://app.example'
const NO_PATTERN = 'must be one origin: browsers send no *, so this one would never match'

const ORIGIN = /^https?:\/\/[^/\s?#@*]+$/i

/** An origin as browsers write it: in lower case, without the port that goes without saying. */
const Origin = z
  .string()
  .regex(ORIGIN, { error: ({ input }) => (String(input).includes('*') ? NO_PATTERN : NO_ORIGIN) })
  // The form is said already.
  .refine((text) => !ORIGIN.test(text) || URL.canParse(text), NO_ORIGIN)
  .transform((text) => (URL.canParse(text) ? new URL(text).origin : text))

const NO_URL = 'must be a URL: a port up to 65535, and special characters of a password escaped, as %23 for #'

export const Api = z.strictObject({
  enabled: key(z.boolean().default(true), 'Whether /v1 is answered', false),
  base: key(
    z
      .string()
      .regex(/^(\/[^/?#]+)*$/, 'must be empty or a path without a trailing slash')
      .default(''),
    'Path before /v1, for an origin that has a /v1 of its own',
    '/detect',
  ),
  cors: key(z.array(Origin).prefault([]), 'Origins whose pages may call /v1 from browsers', ['https://app.example']),
  plans: key(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be the name of a plan: small letters, digits and -'),
        z.union([z.int().positive(), z.literal('unlimited')], 'must be a number of calls from 1 on, or unlimited'),
      )
      .prefault({}),
    'Plans of accounts by name: calls in a month, or unlimited. They add to the usual plans, or change them',
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
  .refine(hasDatabaseNumber, 'must end with the port, or with the number of a database: redis://host:port/1')

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
      'http, https or file: URL of the source; absent: the published one',
      'file:/srv/lists/vpn-ipv4.txt',
    ),
    enabled: key(z.boolean(), 'Whether the source is used; absent: as data/sources.json has it', true),
    key: key(z.string(), 'Key of the publisher, as account:secret; absent: none', 'file:/run/secrets/maxmind', SECRET),
  })
  .partial()

export const Data = z.strictObject({
  refresh: key(
    z.boolean().default(true),
    'Whether a running service downloads feeds that are due; false leaves it to sallyport data update',
    false,
  ),
  readOnly: key(
    z.boolean().default(false),
    'Whether dataDir is only read, because it holds compiled data already, as in an image',
    true,
  ),
  city: key(
    z.boolean().default(true),
    'Whether cities are loaded; without them the data takes a third of the space',
    false,
  ),
  requireFresh: key(
    z.boolean().default(false),
    'Whether the proxy is not ready while loaded data is past its age',
    true,
  ),
  mirror: key(
    z.url(HTTP).optional(),
    'URL of a mirror of published feeds, each under its id: <mirror>/tor-bulk-exit; absent: their publishers',
    'https://lists.example/sallyport',
  ),
  sources: z.record(z.string(), Source).default({}).describe('Sources by their ids, as data status --all shows them'),
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

const Resolvers = z.array(z.string().refine(isResolver, 'must be an address, or address:port'))

export const Dns = z.strictObject({
  servers: key(Resolvers.default([]), 'Resolvers, as address or address:port; empty: those of the machine', [
    '10.0.0.53',
  ]),
  timeoutMs: key(z.int().min(10).max(30_000).default(500), 'Time for an answer', 800, {
    unit: 'milliseconds',
  }),
  reverseNames: key(
    z.boolean().default(false),
    'Whether reverse names of visitors from hosting, unknown and doubtful networks are looked up, in the background: the resolver sees them',
    true,
  ),
})

export const Whois = z.strictObject({
  servers: key(
    z.record(z.string().regex(/^[a-z0-9-]+$/, 'must be a top-level domain'), Listen).default({}),
    'Port-43 servers by top-level domain, before those that are known',
    { de: 'whois.example.net:43' },
  ),
})

export const WebBotAuth = z.strictObject({
  agents: key(
    z.array(z.url(HTTP)).default([]),
    "Agents whose keys are fetched, beside the catalogue's: origins, or URLs of key sets and cards",
    ['https://agent.example'],
  ),
  authorityHeader: key(
    z
      .string()
      .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'is not the name of a header')
      .optional(),
    'Header in which trusted proxies write the Host that the client asked for; absent: Host',
    'x-forwarded-host',
  ),
  discover: key(z.boolean().default(false), 'Whether the directory of any agent that names one is fetched', true),
})

export const Provenance = z.strictObject({
  policy: key(
    z.string().min(1).optional(),
    'Jurisdiction policy, YAML or JSON; absent: the built-in one',
    './jurisdictions.yaml',
    FILE,
  ),
  signingKey: key(
    z.string().min(1).optional(),
    'Private Ed25519 key in PEM: a file of mode 0600, or env:NAME; absent: made in dataDir',
    '/etc/sallyport/ledger.pem',
  ),
  account: key(
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be the id of an account')
      .default('site'),
    'Id of the account whose log takes inline attestations, and whose key exports them',
    'shop',
  ),
  retentionDays: key(
    z.union([z.literal(false), z.int().min(1).max(36_500)]).default(365),
    'Days until addresses and contexts are erased from the ledger; false: never. The records stay',
    30,
    { unit: 'days' },
  ),
})

/** Guesses are not bounded, so that nobody is locked out by them: a token has to be one that is not guessed. */
const ConsoleToken = z
  .string()
  .regex(/^[\x21-\x7e]{16,512}$/, 'must be 16 characters or more, without spaces')
  .refine((text) => new Set(text).size >= 8, 'must have 8 different characters or more: openssl rand -base64 24')
  .optional()

export const Console = z.strictObject({
  enabled: key(z.boolean().default(true), 'Whether the admin listener shows a web page', false),
  adminToken: key(
    ConsoleToken,
    'Token for administrators of the console; absent: <dataDir>/console-token',
    'file:/run/secrets/console-admin',
    SECRET,
  ),
  steerToken: key(
    ConsoleToken,
    'Token that allows lifting bans, changing lists and renewing data in the console; absent: only the token for administrators',
    'file:/run/secrets/console-steer',
    SECRET,
  ),
  readToken: key(
    ConsoleToken,
    'Token that allows reading the console; absent: only the token for administrators',
    'file:/run/secrets/console-read',
    SECRET,
  ),
})

/** Places of counts. */
const COUNTING_PLACES = ['auto', 'memory', 'dataDir'] as const

export const Counting = z.strictObject({
  place: key(
    z.enum(COUNTING_PLACES).default('auto'),
    'Place of counts; auto: redis where that is named, dataDir for workers of a cluster, else memory',
    'dataDir',
  ),
})

export const Log = z.strictObject({
  requests: key(
    z.enum(LOGGED_REQUESTS).default('decided'),
    'Requests to log; decided: those not allowed, or on trial',
    'all',
  ),
  addresses: key(
    z.enum(ADDRESS_FORMS).default('full'),
    'Form of addresses in the log, notifications and the console, not in bans, overrides and attestations: full; truncated to /24 and /48; hashed with a key of the day; none',
    'truncated',
  ),
  sample: key(z.number().min(0).max(1).default(1), 'Share of the allowed requests that `all` logs', 0.1, {
    unit: 'share',
  }),
  format: key(
    z.enum(LOG_FORMATS).default('plain'),
    'Names of the fields: our own, or those of ECS or OpenTelemetry',
    'ecs',
  ),
  file: key(
    z.string().min(1).optional(),
    'File that lines are appended to; absent: standard output',
    '/var/log/sallyport/decisions.log',
  ),
})
