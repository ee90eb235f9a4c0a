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
  listen: key(Listen.default('127.0.0.1:8080'), 'Address the proxy listens on', '0.0.0.0:443'),
  // TLS begins and ends with the listener; what is within it says of its own keys.
  tls: Tls.optional().describe('TLS on listen; absent: none'),
  http: key(Listen.optional(), 'Plain HTTP listener, which redirects clients to HTTPS; absent: none', '0.0.0.0:80'),
  proxyProtocol: key(
    z.union([z.literal(false), z.enum(['v1', 'v2'])]).default(false),
    'PROXY protocol version that starts every connection; only trusted peers may connect',
    'v2',
  ),
  forwardAuth: key(
    z.union([z.literal(false), z.enum(['nginx', 'ingress-nginx', 'traefik', 'caddy', 'envoy'])]).default(false),
    'Trusted proxy that authorizes each request at /.sallyport/check; Sallyport reads its headers',
    'nginx',
    LIVE,
  ),
  decoys: Decoys.prefault({}).meta({ description: 'Paths that only bots request', ...LIVE }),
  handoff: Handoff.prefault({}).meta({
    description: 'Signature of requests to the origin, in the header sallyport-signature',
    ...LIVE,
  }),
  admin: key(
    Listen.optional(),
    'Address of health, metrics and console; absent: 127.0.0.1:9090, or none if that port is taken',
    '127.0.0.1:9090',
  ),
  adminOpen: key(
    z.array(z.enum(['metrics', 'sources', 'readyz'])).default([]),
    'Admin paths that need no token from other machines',
    ['metrics', 'readyz'],
  ),
  console: Console.prefault({}).describe('Web console on the admin listener'),
  upstream: key(
    Upstream.optional(),
    'Origin behind the proxy; absent: only /v1 is served',
    'http://127.0.0.1:3000',
    LIVE,
  ),
  demo: key(z.boolean().default(false), 'Whether a bundled example site is served if no origin is set', true),
  testing: key(
    z
      .boolean()
      .refine((on) => !on || process.env['NODE_ENV'] !== 'production', 'is for tests, but NODE_ENV is production')
      .default(false),
    'Whether forms accept the token sallyport-test in end-to-end tests; an error if NODE_ENV is production',
    true,
    LIVE,
  ),
  mode: key(
    z.enum(MODES).default('enforce'),
    'enforce, or monitor to record decisions without blocking',
    'monitor',
    LIVE,
  ),
  trustProxy: key(Strings.default([]), 'Trusted proxies: CIDRs and presets', ['loopback', '10.0.0.0/8'], LIVE),
  clientHeader: key(
    z.string().default('x-forwarded-for'),
    'Header with the client address, read from trusted peers only',
    'x-real-ip',
    LIVE,
  ),
  ja4Header: key(
    z.string().optional(),
    "Header with the client's JA4, read from trusted peers only; absent: JA4 is known if TLS ends here",
    'cf-ja4',
    LIVE,
  ),
  api: Api.prefault({}).describe('The /v1 API'),
  paths: key(
    z.enum(['strict', 'pass']).optional(),
    'Whether ambiguous request targets are refused; absent: strict in the proxy, pass in adapters',
    'strict',
    LIVE,
  ),
  methods: key(
    z
      .array(
        z.string().regex(/^(?!CONNECT$|TRACE$)[A-Z][A-Z-]*$/, 'must be a method in capitals, not CONNECT or TRACE'),
      )
      .default([]),
    'Methods forwarded besides GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS',
    ['PROPFIND'],
    LIVE,
  ),
  challenge: Challenge.prefault({}).meta({
    description: 'Challenge page',
    ...LIVE,
  }),
  refusal: Refusal.prefault({}).meta({ description: 'Page for blocked visitors', ...LIVE }),
  log: Log.prefault({}).meta({ description: 'Decision log, with one JSON line per request', ...LIVE }),
  watch: key(
    z.boolean().default(false),
    'Whether a change to this file, or a file it names, triggers a reload, as SIGHUP does',
    true,
  ),
  dataDir: key(
    z.string().min(1).default('./.sallyport'),
    'Directory of compiled data and embedded stores',
    '/var/lib/sallyport',
  ),
  store: key(
    Store.optional(),
    'Database of accounts, keys and records: sqlite:<path> or postgres://…; absent: sqlite:<dataDir>/state.db',
    'postgres://app:password@db.example:5432/app',
    SECRET,
  ),
  redis: key(
    Redis.optional(),
    'Redis that shares rate limits between machines; absent: each machine counts alone',
    'redis://cache.example:6379',
    SECRET,
  ),
  data: Data.prefault({}).describe('Data behind verdicts'),
  net: z
    .strictObject({
      outbound: key(
        z.boolean().default(true),
        'Whether outbound requests are allowed (DNS, lists, keys, registries); otherwise, checks that need them cannot run',
        false,
      ),
      allowPrivate: key(Strings.default([]), 'Non-public CIDRs that outbound requests may reach', ['10.20.0.0/16']),
    })
    .prefault({})
    .describe('Outbound requests'),
  dns: Dns.prefault({}).describe('Name resolution'),
  whois: Whois.prefault({}).describe('Domain name registries'),
  policy: PolicySchema.prefault({}).meta({ description: 'Rules, limits and bans', ...LIVE }),
  counting: Counting.prefault({}).describe('Counters of rate limits'),
  webBotAuth: WebBotAuth.optional().describe('Agent signatures; absent: only agents in the catalogue'),
  provenance: Provenance.prefault({}).describe('Attestations of claims'),
  limits: Limits.prefault({}).meta({ description: 'Limits of the proxy', ...LIVE }),
  timeouts: Timeouts.prefault({}).meta({
    description: 'Timeouts of the proxy; a number is milliseconds',
    ...LIVE,
  }),
  routes: z
    .array(Route)
    .default([])
    .meta({ description: 'Sites and parts of sites; the most specific host and the longest path win', ...LIVE }),
})

/** Settings with every default filled in. */
export type Settings = z.output<typeof Settings>
