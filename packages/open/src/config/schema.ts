import { HANDOFF_ALGORITHMS, MODES } from '@sallyport/core'
import { ADDRESS_FORMS, LOG_FORMATS, LOGGED_REQUESTS } from '@sallyport/log'
import { z } from 'zod'
import { Limits, RouteTimeouts, Timeouts, time } from './limits.ts'
import { MountPolicySchema, PolicySchema } from './policy-schema.ts'

const Strings = z.array(z.string())

/** `host:port`, an IPv6 host in brackets; port 0 takes a free one. */
const Listen = z.string().regex(/^(\[[0-9a-f:.]+\]|[^\s:[\]]+):\d{1,5}$/i, 'must be host:port')

/** A key that is never shown, and that may be written as `file:PATH` or with `${NAME}`. */
const SECRET = { secret: true }

const HTTP = { protocol: /^https?$/, error: 'must be an http or https URL' }

const Upstream = z
  .string()
  .refine(isOrigin, 'must be an origin, http(s)://host[:port] without a path, or unix:/path/of/a/socket')

function isOrigin(text: string): boolean {
  if (/^unix:\/./.test(text)) return true
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).href === `${new URL(text).origin}/`
  )
}

const Api = z.strictObject({
  enabled: z.boolean().default(true).describe('whether /v1 is answered'),
  base: z
    .string()
    .regex(/^(\/[^/?#]+)*$/, 'must be empty or a path without a trailing slash')
    .default('')
    .describe('moves /v1 to <base>/v1, where the origin has a /v1 of its own'),
  docs: z.boolean().default(true).describe('whether GET /v1/docs is the reference for people'),
  cors: z
    .array(z.string().regex(/^https?:\/\/[^/\s]+$/, 'must be an origin, as https://app.example'))
    .default([])
    .describe('origins whose pages may call /v1 from browsers'),
})

const Store = z
  .string()
  .regex(/^(sqlite:.+|postgres(ql)?:\/\/\S+)$/, 'must be sqlite:<path> or postgres://user:password@host:port/database')

const Source = z
  .strictObject({
    url: z.string().describe('http, https or file: URL, instead of the published one'),
    enabled: z.boolean().describe('whether it is used'),
    key: z.string().meta({ ...SECRET, description: 'account:secret, for publishers that ask for one' }),
  })
  .partial()

const Data = z.strictObject({
  refresh: z
    .boolean()
    .default(true)
    .describe('whether a running service downloads what is due; false leaves it to sallyport data update'),
  readOnly: z
    .boolean()
    .default(false)
    .describe('writes nothing into dataDir, which holds compiled data already: as in an image'),
  city: z.boolean().default(true).describe('whether places are known; without them the data takes a third of the room'),
  requireFresh: z.boolean().default(false).describe('whether the proxy is not ready while loaded data is past its age'),
  mirror: z
    .url(HTTP)
    .optional()
    .describe('where published feeds are found instead, each under its id: <mirror>/tor-bulk-exit'),
  sources: z.record(z.string(), Source).default({}).describe('by their ids, as data status --all shows them'),
})

const Dns = z.strictObject({
  servers: Strings.default([]).describe('address or address:port; empty: the resolvers of the machine'),
  timeoutMs: z.int().min(10).max(30_000).default(500).describe('how long an answer is waited for'),
  reverseNames: z
    .boolean()
    .default(false)
    .describe('asks for the names of visitors from hosting networks, in the background: the resolver sees them'),
})

const Whois = z.strictObject({
  servers: z
    .record(z.string().regex(/^[a-z0-9-]+$/, 'must be a top-level domain'), Listen)
    .default({})
    .describe('port-43 servers by top-level domain, before those that are known'),
  rdapBootstrap: z
    .url(HTTP)
    .optional()
    .describe('a bootstrap file of RDAP services, read once a day; absent: the source rdap-dns, or what is shipped'),
})

const WebBotAuth = z.strictObject({
  agents: z
    .array(z.url(HTTP))
    .default([])
    .describe("agents whose keys are fetched, beside the catalogue's: origins, or URLs of key sets and cards"),
  discover: z.boolean().default(false).describe('fetches the directory of any agent that names one'),
  testKeys: z.boolean().default(false).describe('accepts keys whose private halves are published: for tests only'),
})

const Provenance = z.strictObject({
  policy: z.string().min(1).optional().describe('jurisdiction policy, YAML or JSON; absent: the built-in one'),
  signingKey: z
    .string()
    .min(1)
    .optional()
    .describe('private Ed25519 key in PEM: a file of mode 0600, or env:NAME; absent: made in dataDir'),
  account: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be the id of an account')
    .default('site')
    .describe('whose log inline attestations go to: the id of an account, whose key then exports them'),
  retentionDays: z
    .int()
    .min(1)
    .max(36_500)
    .optional()
    .describe('days after which addresses and contexts are erased; absent: never. The records stay'),
})

const ConsoleToken = z
  .string()
  .regex(/^[\x21-\x7e]{16,512}$/, 'must be 16 characters or more, without spaces')
  .optional()

const Console = z.strictObject({
  enabled: z.boolean().default(true).describe('whether the admin listener shows a web page'),
  adminToken: ConsoleToken.meta({
    ...SECRET,
    description: 'lets its holder change things in the console; absent: <dataDir>/console-token',
  }),
  readToken: ConsoleToken.meta({
    ...SECRET,
    description: 'lets its holder look; absent: visitors from this machine may, and nobody else',
  }),
})

/** Where counts are. */
export const COUNTING_PLACES = ['auto', 'memory', 'dataDir'] as const

const Health = z.strictObject({
  path: z.string().startsWith('/').describe('asked of each server; an answer below 400 is a good one'),
  interval: time('10s', ['100ms', '1h'], 'between two checks of a server'),
  timeout: time('2s', ['10ms', '1m'], 'for the answer to a check'),
})

const Route = z.strictObject({
  host: z
    .string()
    .regex(/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/i, 'must be a host name, or *. and one')
    .optional()
    .describe('shop.example, or *.shop.example for all names below; absent: any'),
  path: z.string().startsWith('/').default('/').describe('a path, with all below it'),
  upstreams: z
    .array(Upstream)
    .min(1)
    .optional()
    .describe('servers that take turns; absent: those of the next route that fits, at last upstream'),
  hostHeader: z
    .enum(['client', 'origin'])
    .optional()
    .describe('client: the Host that the client asked for; origin: each server its own name; absent: client'),
  ca: z.string().min(1).optional().describe('file in PEM of the authorities of https servers; absent: those of Node'),
  health: Health.optional().describe('absent: servers are not asked, and left out only where they have failed'),
  timeouts: RouteTimeouts.optional().describe('in place of those of all'),
  stream: z
    .boolean()
    .optional()
    .describe('answers may pause for as long as they like, as those of text/event-stream may anyway'),
  policy: MountPolicySchema.optional().describe('what is decided by in place of the policy of all'),
  mode: z.enum(MODES).optional().describe('in place of the mode of all'),
})

const Certificate = z.strictObject({
  cert: z.string().min(1).describe('a file in PEM: the certificate of the server, then those that signed it'),
  key: z.string().min(1).describe('a file in PEM: its private key'),
})

const Acme = z.strictObject({
  domains: z
    .array(z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be a domain name'))
    .min(1)
    .describe('names of one certificate, each of which leads to http on port 80'),
  email: z.email().describe('for letters of the authority'),
  directory: z.url(HTTP).optional().describe("directory of an authority; absent: that of Let's Encrypt"),
  ca: z.string().min(1).optional().describe('file in PEM, where the directory itself has a certificate of its own'),
})

const Hsts = z.strictObject({
  maxAge: z.int().min(0).max(63_072_000).describe('seconds for which browsers come by https alone'),
  includeSubDomains: z.boolean().default(false).describe('whether that holds for all names below'),
  preload: z.boolean().default(false).describe('whether browsers may be shipped with it'),
})

const Tls = z.strictObject({
  acme: Acme.optional().describe('a certificate that an authority issues and renews; needs http on port 80'),
  certificates: z
    .array(Certificate)
    .default([])
    .describe('chosen by server name; the first serves clients that name none. Read again when the files change'),
  http2: z.boolean().default(true).describe('whether clients may speak HTTP/2'),
  redirect: z
    .union([z.boolean(), z.int().min(1).max(65_535)])
    .default(false)
    .describe('whether what comes to http is sent to https: to the port of listen, or to one that is named'),
  hsts: Hsts.optional().describe('Strict-Transport-Security on every answer; absent: none'),
})

const YES_OR_NO = z.enum(['yes', 'no']).optional()

const Robots = z.strictObject({
  serve: z.boolean().default(false).describe('whether the proxy answers /robots.txt in place of the origin'),
  sitemaps: z.array(z.url(HTTP)).default([]).describe('maps of the site that it names'),
  signals: z
    .strictObject({
      search: YES_OR_NO.describe('whether content may be in the results of a search'),
      'ai-input': YES_OR_NO.describe('whether an AI may read it for an answer'),
      'ai-train': YES_OR_NO.describe('whether an AI may be trained with it'),
    })
    .prefault({})
    .describe(
      'Content-Signal and Content-Usage; absent: no where the policy refuses all crawlers of that use, else nothing',
    ),
})

const Handoff = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        id: z.string().describe('named in every signature'),
        algorithm: z
          .enum(HANDOFF_ALGORITHMS)
          .describe('hmac-sha256: a secret that the origin has too; ed25519: a pair'),
        secret: z.string().meta({ ...SECRET, description: '32 characters or more, or the private key in PEM' }),
      }),
    )
    .default([])
    .describe('the first signs; name the others while origins may still know them alone'),
})

const LocalText = z.union([
  z.string().min(1),
  z.record(z.string().regex(/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*$/, 'must be a language, as en or pt-BR'), z.string()),
])

const Refusal = z.strictObject({
  title: LocalText.optional().describe('headline of the page of a blocked visitor, or one by language'),
  text: LocalText.optional().describe('what is said below it, or one by language'),
  contact: z.string().min(1).optional().describe('where a visitor can write: a mail address, a URL or a sentence'),
  template: z
    .string()
    .min(1)
    .optional()
    .describe(
      'an HTML file in place of the page, with {{title}}, {{text}}, {{contact}}, {{id}}, {{status}} and {{lang}}',
    ),
})

const Counting = z.strictObject({
  place: z
    .enum(COUNTING_PLACES)
    .default('auto')
    .describe('auto: redis where that is named, dataDir for workers of a cluster, else memory'),
  share: z
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe('of every limit, that this process lets through while Redis does not answer'),
})

const Log = z.strictObject({
  requests: z
    .enum(LOGGED_REQUESTS)
    .default('decided')
    .describe('decided: those flagged, blocked or on trial; all; off'),
  addresses: z
    .enum(ADDRESS_FORMS)
    .default('full')
    .describe('full; truncated to /24 and /48; hashed with a key of the day; none'),
  sample: z.number().min(0).max(1).default(1).describe('share of the allowed requests that `all` writes'),
  format: z
    .enum(LOG_FORMATS)
    .default('plain')
    .describe('names of the fields: our own, or those of ECS or OpenTelemetry'),
  file: z.string().min(1).optional().describe('where lines are appended; absent: standard output'),
})

/**
 * The configuration of one Sallyport, as written in `sallyport.yaml` or given to `open()`. Every key has a default,
 * so `{}` is a whole configuration; a key that is not here is an error that names it. What a key means is its
 * description, which editors show.
 */
export const Config = z.strictObject({
  listen: Listen.default('127.0.0.1:8080').describe('where the proxy listens'),
  tls: Tls.optional().describe('TLS on listen; absent: none'),
  http: Listen.optional().describe('plain HTTP beside TLS, where clients are redirected; absent: none'),
  proxyProtocol: z
    .union([z.literal(false), z.enum(['v1', 'v2'])])
    .default(false)
    .describe('v1, v2: every connection begins with a PROXY header, and comes from a trusted peer'),
  forwardAuth: z
    .union([z.literal(false), z.enum(['nginx', 'traefik', 'caddy'])])
    .default(false)
    .describe('the trusted server that asks at /.sallyport/check before it forwards, and whose headers are read'),
  robots: Robots.prefault({}).describe('robots.txt, made from the policy'),
  handoff: Handoff.prefault({}).describe('signs what goes to the origin, as sallyport-signature'),
  admin: Listen.optional().describe(
    'where health is answered and the console is; absent: 127.0.0.1:9090, and nowhere if that port is taken',
  ),
  console: Console.prefault({}).describe('the web page on the admin listener'),
  upstream: Upstream.optional().describe('the origin behind the proxy; absent: /v1 alone is served'),
  demo: z.boolean().default(false).describe('whether a bundled example site is served where no origin is named'),
  mode: z.enum(MODES).default('enforce').describe('monitor: what is decided is recorded, and nothing is blocked'),
  trustProxy: Strings.default([]).describe('CIDRs and presets of the proxies that are believed'),
  clientHeader: z
    .string()
    .default('x-forwarded-for')
    .describe('the one header that names the client; read only from a trusted peer'),
  api: Api.prefault({}).describe('the /v1 API'),
  paths: z
    .enum(['strict', 'pass'])
    .optional()
    .describe(
      'strict refuses targets that servers read in several ways; absent: strict in the proxy, pass in adapters',
    ),
  methods: z
    .array(
      z.string().regex(/^(?!CONNECT$|TRACE$)[A-Z][A-Z-]*$/, 'must be a method in capitals, and not CONNECT or TRACE'),
    )
    .default([])
    .describe('forwarded beside GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS'),
  refusal: Refusal.prefault({}).describe('what refused visitors read'),
  log: Log.prefault({}).describe('one JSON line for each request that is written down'),
  watch: z.boolean().default(false).describe('read again when this file changes, as SIGHUP always does'),
  dataDir: z.string().min(1).default('./.sallyport').describe('where compiled data and the embedded stores are'),
  store: Store.optional().meta({
    ...SECRET,
    description: 'accounts, keys and records: sqlite:<path> or postgres://…; absent: sqlite:<dataDir>/state.db',
  }),
  redis: z
    .string()
    .regex(/^rediss?:\/\/\S+$/, 'must be redis://host:port')
    .optional()
    .meta({ ...SECRET, description: 'where several machines count limits; absent: in dataDir, for one' }),
  data: Data.prefault({}).describe('the data that verdicts rest on'),
  net: z
    .strictObject({
      outbound: z
        .boolean()
        .default(true)
        .describe(
          'false: no name is asked for, no list or key fetched, no registry asked; checks that need it could not run',
        ),
      allowPrivate: Strings.default([]).describe('CIDRs that outbound requests may reach although they are not public'),
    })
    .prefault({})
    .describe('outbound requests'),
  dns: Dns.prefault({}).describe('who answers for names'),
  whois: Whois.prefault({}).describe('registries of names'),
  policy: PolicySchema.prefault({}).describe('what is done about whom'),
  counting: Counting.prefault({}).describe('where rules with limits count'),
  webBotAuth: WebBotAuth.optional().describe('signatures of agents; absent: the agents of the catalogue alone'),
  provenance: Provenance.prefault({}).describe('attestations of claims'),
  limits: Limits.prefault({}).describe('what bounds the proxy'),
  timeouts: Timeouts.prefault({}).describe('how long the proxy waits; a number is milliseconds'),
  routes: z.array(Route).default([]).describe('sites and parts of them; the nearest host and the longest path count'),
})

/** A configuration with every default filled in. */
export type Config = z.output<typeof Config>

/** A configuration as a person writes it. */
export type ConfigInput = z.input<typeof Config>
