import {
  ACTIONS,
  AGENT_BASES,
  AGENT_CLASSES,
  CRAWLER_OUTCOMES,
  CRAWLER_PURPOSES,
  DAYS,
  MODES,
  NETWORK_CLASSES,
  PRESET_NAMES,
} from '@sallyport/core'
import { z } from 'zod'

const Strings = z.array(z.string())

/** 0 to 1. */
const Share = z.number().min(0).max(1)

/** `host:port`, an IPv6 host in brackets; port 0 takes a free one. */
const Listen = z.string().regex(/^(\[[0-9a-f:.]+\]|[^\s:[\]]+):\d{1,5}$/i, 'must be host:port')

const Rule = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _'),
  match: z
    .strictObject({
      networkClass: z.array(z.enum(NETWORK_CLASSES)),
      country: Strings,
      asn: z.array(z.int().nonnegative()),
      provider: Strings,
      path: Strings,
      method: Strings,
      header: z.strictObject({ present: Strings, absent: Strings }).partial(),
      time: z
        .strictObject({ from: z.string(), to: z.string(), days: z.array(z.enum(DAYS)), zone: z.string() })
        .partial(),
      class: z.array(z.enum(AGENT_CLASSES)),
      basis: z.array(z.enum(AGENT_BASES)),
      headless: z.boolean(),
      confidence: z.strictObject({ atLeast: Share, atMost: Share }).partial(),
      identity: Strings,
      vendor: Strings,
      crawler: Strings,
      crawlerOutcome: z.array(z.enum(CRAWLER_OUTCOMES)),
      operator: Strings,
      purpose: z.array(z.enum(CRAWLER_PURPOSES)),
    })
    .partial(),
  action: z.enum(ACTIONS),
  monitor: z.boolean().optional(),
  onError: z.enum(ACTIONS).optional(),
})

/** The policy: the user's rules, then the preset's, then the default. */
export const PolicySchema = z.strictObject({
  preset: z.enum(PRESET_NAMES).default('low-friction'),
  rules: z.array(Rule).default([]),
  /** The action where no rule matches; absent: allow. */
  default: z.enum(ACTIONS).optional(),
  /** The action when the inspection itself fails; absent: allow. */
  onError: z.enum(ACTIONS).optional(),
  /** CIDRs and addresses that are allowed before any rule. */
  allowlist: Strings.optional(),
})

/**
 * The configuration of one Sallyport, as written in `sallyport.yaml` or given to `open()`. Every key has a default,
 * so `{}` is a whole configuration; a key that is not here is an error that names it.
 */
export const Config = z.strictObject({
  /** Where the proxy listens. */
  listen: Listen.default('127.0.0.1:8080'),
  /** Where the proxy's health listener is; absent: 127.0.0.1:9090, and none where that port is taken. */
  admin: Listen.optional(),
  /** Origin behind the proxy; absent: the bundled example site. */
  upstream: z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => new URL(url).href === `${new URL(url).origin}/`,
      'must be an origin: scheme, host and port, no path',
    )
    .optional(),
  mode: z.enum(MODES).default('enforce'),
  /** CIDRs and presets of trusted proxies. */
  trustProxy: Strings.default([]),
  /** The one header that names the client; read only from a trusted peer. */
  clientHeader: z.string().default('x-forwarded-for'),
  /** `base` moves /v1 to `<base>/v1`. */
  api: z
    .strictObject({
      enabled: z.boolean().default(true),
      base: z
        .string()
        .regex(/^(\/[^/?#]+)*$/, 'must be empty or a path without a trailing slash')
        .default(''),
    })
    .prefault({}),
  /**
   * `strict` refuses targets that servers read in several ways: dot segments in any spelling, backslashes, NUL, broken
   * escapes. Absent: `strict` in the proxy, `pass` in the adapters.
   */
  paths: z.enum(['strict', 'pass']).optional(),
  /** Methods that the proxy forwards beside GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS. */
  methods: z
    .array(
      z.string().regex(/^(?!CONNECT$|TRACE$)[A-Z][A-Z-]*$/, 'must be a method in capitals, and not CONNECT or TRACE'),
    )
    .default([]),
  dataDir: z.string().min(1).default('./.sallyport'),
  /** `sqlite:<path>` or `postgres://…`; absent: `sqlite:<dataDir>/state.db`. */
  store: z
    .string()
    .regex(
      /^(sqlite:.+|postgres(ql)?:\/\/\S+)$/,
      'must be sqlite:<path> or postgres://user:password@host:port/database',
    )
    .optional(),
  /** Where the per-client limits of several machines are counted; absent: in the dataDir, for one machine. */
  redis: z
    .string()
    .regex(/^rediss?:\/\/\S+$/, 'must be redis://host:port')
    .optional(),
  data: z
    .strictObject({
      /** Whether a running service downloads what is due; `false` leaves it to `sallyport data update`. */
      refresh: z.boolean().default(true),
      /** Sources by id, as in data/sources.json. `key` is `account:secret`, for publishers that ask for one. */
      sources: z
        .record(z.string(), z.strictObject({ url: z.string(), enabled: z.boolean(), key: z.string() }).partial())
        .default({}),
    })
    .prefault({}),
  net: z
    .strictObject({
      /** CIDRs that outbound requests may reach although they are not public. */
      allowPrivate: Strings.default([]),
    })
    .prefault({}),
  dns: z
    .strictObject({
      /** `address` or `address:port`; absent: the resolvers of the machine. */
      servers: Strings.default([]),
      timeoutMs: z.int().min(10).max(30_000).default(500),
      /** Asks for the reverse names of visitors from hosting networks, in the background: the resolver sees them. */
      reverseNames: z.boolean().default(false),
    })
    .prefault({}),
  whois: z
    .strictObject({
      /** Port-43 servers by top-level domain, before those that are known. */
      servers: z.record(z.string().regex(/^[a-z0-9-]+$/, 'must be a top-level domain'), Listen).default({}),
      /** A bootstrap file of RDAP services (RFC 9224), read once a day; absent: the source `rdap-dns`, or what is shipped. */
      rdapBootstrap: z.url({ protocol: /^https?$/ }).optional(),
    })
    .prefault({}),
  policy: PolicySchema.prefault({}),
  /** HTTP message signatures of agents; absent: the agents of the catalogue alone. */
  webBotAuth: z
    .strictObject({
      /** Agents whose keys are fetched, beside those of the catalogue: their origins, or URLs of key sets and cards. */
      agents: z.array(z.url({ protocol: /^https?$/ })).default([]),
      /** Fetch the directory of any agent that names one. */
      discover: z.boolean().default(false),
      /** Accept the keys that RFC 9421 prints with their private halves: for tests only. */
      testKeys: z.boolean().default(false),
    })
    .optional(),
  provenance: z
    .strictObject({
      /** Jurisdiction policy, YAML or JSON; absent: data/jurisdictions.json. */
      policy: z.string().min(1).optional(),
      /** Private Ed25519 key in PEM: a file of mode 0600, or `env:NAME`; absent: made in dataDir. */
      signingKey: z.string().min(1).optional(),
      /** Whose log inline attestations go to: the id of an account, whose key then exports them. */
      account: z
        .string()
        .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be the id of an account')
        .default('site'),
      /** Days after which addresses and contexts are erased; absent: never. The records stay. */
      retentionDays: z.int().min(1).max(36_500).optional(),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** Bits of an IPv6 address that share one per-client limit. */
      ipv6Prefix: z.int().min(32).max(128).default(64),
      /** Connections to the proxy at one time. */
      connections: z.int().min(1).max(1_000_000).default(10_000),
      /** Those of one client; connections of trusted proxies are not counted. */
      connectionsPerClient: z.int().min(1).max(1_000_000).default(256),
      /** Requests of one connection that may wait for the answers before them. */
      pipelined: z.int().min(0).max(1_000).default(16),
    })
    .prefault({}),
})

/** A configuration with every default filled in. */
export type Config = z.output<typeof Config>

/** A configuration as a person writes it. */
export type ConfigInput = z.input<typeof Config>
