import { MODES } from '@sallyport/core'
import { z } from 'zod'
import { key, LIVE, SECRET } from './key.ts'
import { Limits, Timeouts } from './limits.ts'
import { PolicySchema } from './policy-schema.ts'
import { Handoff, Listen, Refusal, Robots, Route, Tls, Upstream } from './schema-edge.ts'
import {
  Api,
  Console,
  Counting,
  Data,
  Dns,
  Log,
  Provenance,
  Store,
  Strings,
  WebBotAuth,
  Whois,
} from './schema-service.ts'

/**
 * The configuration of one Sallyport, as written in `sallyport.yaml` or given to `open()`. Every key has a default,
 * so `{}` is a whole configuration; a key that is not here is an error that names it. What a key means is its
 * description, which editors show.
 */
export const Config = z.strictObject({
  listen: key(Listen.default('127.0.0.1:8080'), 'where the proxy listens', '0.0.0.0:443'),
  // TLS begins and ends with the listener; what is within it says of its own keys.
  tls: Tls.optional().describe('TLS on listen; absent: none'),
  http: key(Listen.optional(), 'plain HTTP beside TLS, where clients are redirected; absent: none', '0.0.0.0:80'),
  proxyProtocol: key(
    z.union([z.literal(false), z.enum(['v1', 'v2'])]).default(false),
    'v1, v2: every connection begins with a PROXY header, and comes from a trusted peer',
    'v2',
  ),
  forwardAuth: key(
    z.union([z.literal(false), z.enum(['nginx', 'traefik', 'caddy'])]).default(false),
    'the trusted server that asks at /.sallyport/check before it forwards, and whose headers are read',
    'nginx',
    LIVE,
  ),
  robots: Robots.prefault({}).meta({ description: 'robots.txt, made from the policy', ...LIVE }),
  handoff: Handoff.prefault({}).meta({
    description: 'signs what goes to the origin, as sallyport-signature',
    ...LIVE,
  }),
  admin: key(
    Listen.optional(),
    'where health is answered and the console is; absent: 127.0.0.1:9090, and nowhere if that port is taken',
    '127.0.0.1:9090',
  ),
  adminOpen: key(
    z.array(z.enum(['metrics', 'sources', 'readyz'])).default([]),
    'paths of the admin listener that ask for no token; empty: from this machine alone they ask for none',
    ['metrics', 'readyz'],
  ),
  console: Console.prefault({}).describe('the web page on the admin listener'),
  upstream: key(
    Upstream.optional(),
    'the origin behind the proxy; absent: /v1 alone is served',
    'http://127.0.0.1:3000',
    LIVE,
  ),
  demo: key(z.boolean().default(false), 'whether a bundled example site is served where no origin is named', true),
  mode: key(
    z.enum(MODES).default('enforce'),
    'monitor: what is decided is recorded, and nothing is blocked',
    'monitor',
    LIVE,
  ),
  trustProxy: key(
    Strings.default([]),
    'CIDRs and presets of the proxies that are believed',
    ['loopback', '10.0.0.0/8'],
    LIVE,
  ),
  clientHeader: key(
    z.string().default('x-forwarded-for'),
    'the one header that names the client; read only from a trusted peer',
    'x-real-ip',
    LIVE,
  ),
  api: Api.prefault({}).describe('the /v1 API'),
  paths: key(
    z.enum(['strict', 'pass']).optional(),
    'strict refuses targets that servers read in several ways; absent: strict in the proxy, pass in adapters',
    'strict',
    LIVE,
  ),
  methods: key(
    z
      .array(
        z.string().regex(/^(?!CONNECT$|TRACE$)[A-Z][A-Z-]*$/, 'must be a method in capitals, and not CONNECT or TRACE'),
      )
      .default([]),
    'forwarded beside GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS',
    ['PROPFIND'],
    LIVE,
  ),
  refusal: Refusal.prefault({}).meta({ description: 'what refused visitors read', ...LIVE }),
  log: Log.prefault({}).meta({ description: 'one JSON line for each request that is written down', ...LIVE }),
  watch: key(
    z.boolean().default(false),
    'read again when this file, or one it names, changes, as SIGHUP always does',
    true,
  ),
  dataDir: key(
    z.string().min(1).default('./.sallyport'),
    'where compiled data and the embedded stores are',
    '/var/lib/sallyport',
  ),
  store: key(
    Store.optional(),
    'accounts, keys and records: sqlite:<path> or postgres://…; absent: sqlite:<dataDir>/state.db',
    'postgres://app:password@db.example:5432/app',
    SECRET,
  ),
  redis: key(
    z
      .string()
      .regex(/^rediss?:\/\/\S+$/, 'must be redis://host:port')
      .optional(),
    'where several machines count limits; absent: in dataDir, for one',
    'redis://cache.example:6379',
    SECRET,
  ),
  data: Data.prefault({}).describe('the data that verdicts rest on'),
  net: z
    .strictObject({
      outbound: key(
        z.boolean().default(true),
        'false: no name is asked for, no list or key fetched, no registry asked; checks that need it could not run',
        false,
      ),
      allowPrivate: key(Strings.default([]), 'CIDRs that outbound requests may reach although they are not public', [
        '10.20.0.0/16',
      ]),
    })
    .prefault({})
    .describe('outbound requests'),
  dns: Dns.prefault({}).describe('who answers for names'),
  whois: Whois.prefault({}).describe('registries of names'),
  policy: PolicySchema.prefault({}).meta({ description: 'what is done about whom', ...LIVE }),
  counting: Counting.prefault({}).describe('where rules with limits count'),
  webBotAuth: WebBotAuth.optional().describe('signatures of agents; absent: the agents of the catalogue alone'),
  provenance: Provenance.prefault({}).describe('attestations of claims'),
  limits: Limits.prefault({}).meta({ description: 'what bounds the proxy', ...LIVE }),
  timeouts: Timeouts.prefault({}).meta({ description: 'how long the proxy waits; a number is milliseconds', ...LIVE }),
  routes: z
    .array(Route)
    .default([])
    .meta({ description: 'sites and parts of them; the nearest host and the longest path count', ...LIVE }),
})

/** A configuration with every default filled in. */
export type Config = z.output<typeof Config>

/** A configuration as a person writes it. */
export type ConfigInput = z.input<typeof Config>
