import { ACTIONS, MODES, NETWORK_CLASSES, PRESET_NAMES } from '@sallyport/core'
import { z } from 'zod'

const Strings = z.array(z.string())

/** `host:port`, an IPv6 host in brackets; port 0 takes a free one. */
const Listen = z.string().regex(/^(\[[0-9a-f:.]+\]|[^\s:[\]]+):\d{1,5}$/i, 'must be host:port')

const Rule = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _'),
  match: z
    .strictObject({
      networkClass: z.array(z.enum(NETWORK_CLASSES)),
      country: Strings,
      asn: z.array(z.int().nonnegative()),
      path: Strings,
      method: Strings,
    })
    .partial(),
  action: z.enum(ACTIONS),
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
  /** CIDRs and presets of the proxies that are believed. */
  trustProxy: Strings.default([]),
  /** The one header believed, and only from a trusted peer. */
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
  dataDir: z.string().min(1).default('./.sallyport'),
  /** `sqlite:<path>`; absent: `sqlite:<dataDir>/state.db`. */
  store: z
    .string()
    .regex(/^sqlite:.+$/, 'must be sqlite:<path> in this version')
    .optional(),
  data: z
    .strictObject({
      /** Refreshing is not supported by this version: only `false` is accepted. */
      refresh: z.literal(false).default(false),
      /** Sources by id, as in data/sources.json. */
      sources: z.record(z.string(), z.strictObject({ url: z.string(), enabled: z.boolean() }).partial()).default({}),
    })
    .prefault({}),
  net: z
    .strictObject({
      /** CIDRs that outbound requests may reach although they are not public. DNS alone goes out in this version. */
      allowPrivate: Strings.default([]),
    })
    .prefault({}),
  dns: z
    .strictObject({
      /** `address` or `address:port`; absent: the resolvers of the machine. */
      servers: Strings.default([]),
      timeoutMs: z.int().min(10).max(30_000).default(500),
    })
    .prefault({}),
  policy: z
    .strictObject({
      preset: z.enum(PRESET_NAMES).default('low-friction'),
      rules: z.array(Rule).default([]),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** Bits of an IPv6 address that share one per-client limit. */
      ipv6Prefix: z.int().min(32).max(128).default(64),
    })
    .prefault({}),
})

/** A configuration with every default filled in. */
export type Config = z.output<typeof Config>

/** A configuration as a person writes it. */
export type ConfigInput = z.input<typeof Config>
