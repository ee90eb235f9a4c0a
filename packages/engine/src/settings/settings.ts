import { MODES } from '@sallyport/core'
import { z } from 'zod'
import { key, LIVE, SECRET } from './key.ts'
import { Limits, Timeouts } from './limits.ts'
import { PolicySchema } from './policy-schema.ts'
import { Challenge, Decoys, Handoff, Listen, Refusal, Route, Tls, Upstream } from './schema-edge.ts'
import {
  Api,
  Console,
  Counting,
  Data,
  Dns,
  Log,
  Provenance,
  Redis,
  Store,
  Strings,
  WebBotAuth,
  Whois,
} from './schema-service.ts'

/** The keys of the configuration that belong to no feature. A feature has its own in `features/NAME/keys.ts`. */
export const Settings = z.strictObject({
  listen: key(Listen.default('127.0.0.1:8080'), 'Address that the proxy listens on', '0.0.0.0:443'),
  // TLS begins and ends with the listener; what is within it says of its own keys.
  tls: Tls.optional().describe('TLS on listen; absent: none'),
  http: key(Listen.optional(), 'Address of plain HTTP beside TLS, which redirects clients; absent: none', '0.0.0.0:80'),
  proxyProtocol: key(
    z.union([z.literal(false), z.enum(['v1', 'v2'])]).default(false),
    'Version of the PROXY header that begins every connection, from trusted peers alone; false: none',
    'v2',
  ),
  forwardAuth: key(
    z.union([z.literal(false), z.enum(['nginx', 'ingress-nginx', 'traefik', 'caddy', 'envoy'])]).default(false),
    'Trusted server that asks at /.sallyport/check before it forwards, and whose headers are read',
    'nginx',
    LIVE,
  ),
  decoys: Decoys.prefault({}).meta({ description: 'Paths that only programs ask for', ...LIVE }),
  handoff: Handoff.prefault({}).meta({
    description: 'Signature of requests to the origin, as sallyport-signature',
    ...LIVE,
  }),
  admin: key(
    Listen.optional(),
    'Address of health, metrics and console; absent: 127.0.0.1:9090, and nowhere if that port is taken',
    '127.0.0.1:9090',
  ),
  adminOpen: key(
    z.array(z.enum(['metrics', 'sources', 'readyz'])).default([]),
    'Paths of the admin listener that need no token from other machines',
    ['metrics', 'readyz'],
  ),
  console: Console.prefault({}).describe('The web page on the admin listener'),
  upstream: key(
    Upstream.optional(),
    'Origin behind the proxy; absent: /v1 alone is served',
    'http://127.0.0.1:3000',
    LIVE,
  ),
  demo: key(z.boolean().default(false), 'Whether a bundled example site is served if no origin is named', true),
  mode: key(
    z.enum(MODES).default('enforce'),
    'enforce, or monitor: decisions are recorded, and nothing is blocked',
    'monitor',
    LIVE,
  ),
  trustProxy: key(Strings.default([]), 'Trusted proxies: CIDRs and presets', ['loopback', '10.0.0.0/8'], LIVE),
  clientHeader: key(
    z.string().default('x-forwarded-for'),
    'Header that names the client, read only from a trusted peer',
    'x-real-ip',
    LIVE,
  ),
  api: Api.prefault({}).describe('The /v1 API'),
  paths: key(
    z.enum(['strict', 'pass']).optional(),
    'Whether targets that servers read in several ways are refused; absent: strict in the proxy, pass in adapters',
    'strict',
    LIVE,
  ),
  methods: key(
    z
      .array(
        z.string().regex(/^(?!CONNECT$|TRACE$)[A-Z][A-Z-]*$/, 'must be a method in capitals, and not CONNECT or TRACE'),
      )
      .default([]),
    'Methods forwarded beside GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS',
    ['PROPFIND'],
    LIVE,
  ),
  challenge: Challenge.prefault({}).meta({
    description: 'Page of rules with the action challenge',
    ...LIVE,
  }),
  refusal: Refusal.prefault({}).meta({ description: 'Page for refused visitors', ...LIVE }),
  log: Log.prefault({}).meta({ description: 'Decision log: one JSON line a request', ...LIVE }),
  watch: key(
    z.boolean().default(false),
    'Whether a change of this file, or of one it names, reloads it, as SIGHUP always does',
    true,
  ),
  dataDir: key(
    z.string().min(1).default('./.sallyport'),
    'Folder of compiled data and the embedded stores',
    '/var/lib/sallyport',
  ),
  store: key(
    Store.optional(),
    'Store of accounts, keys and records: sqlite:<path> or postgres://…; absent: sqlite:<dataDir>/state.db',
    'postgres://app:password@db.example:5432/app',
    SECRET,
  ),
  redis: key(
    Redis.optional(),
    'Redis in which several machines count limits; absent: each machine counts alone',
    'redis://cache.example:6379',
    SECRET,
  ),
  data: Data.prefault({}).describe('Data that verdicts rest on'),
  net: z
    .strictObject({
      outbound: key(
        z.boolean().default(true),
        'Whether outbound requests are made (names, lists, keys, registries); without them, checks that need one cannot run',
        false,
      ),
      allowPrivate: key(Strings.default([]), 'CIDRs that outbound requests may reach although they are not public', [
        '10.20.0.0/16',
      ]),
    })
    .prefault({})
    .describe('Outbound requests'),
  dns: Dns.prefault({}).describe('Name resolution'),
  whois: Whois.prefault({}).describe('Registries of domain names'),
  policy: PolicySchema.prefault({}).meta({ description: 'Rules, limits and bans', ...LIVE }),
  counting: Counting.prefault({}).describe('Counts of rules with limits'),
  webBotAuth: WebBotAuth.optional().describe('Signatures of agents; absent: the agents of the catalogue alone'),
  provenance: Provenance.prefault({}).describe('Attestations of claims'),
  limits: Limits.prefault({}).meta({ description: 'Bounds of the proxy', ...LIVE }),
  timeouts: Timeouts.prefault({}).meta({
    description: 'Times that the proxy waits; a number is milliseconds',
    ...LIVE,
  }),
  routes: z
    .array(Route)
    .default([])
    .meta({ description: 'Sites and parts of them; the nearest host and the longest path count', ...LIVE }),
})

/** Settings with every default filled in. */
export type Settings = z.output<typeof Settings>
