import { MODES } from '@sallyport/core'
import { z } from 'zod'
import { PROVIDER_KINDS } from './challenge-providers.ts'
import { FILE, key, LIVE, RESTART, SECRET } from './key.ts'
import { RouteTimeouts } from './limits.ts'
import { MountPolicySchema } from './policy-schema.ts'

/* Settings that face clients and origins: TLS, routes, the page of a refusal. */

export const HTTP = { protocol: /^https?$/, error: 'must be an http or https URL' }

/** `host:port`, an IPv6 host in brackets; port 0 takes a free one. */
export const Listen = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[^\s:[\]]+):\d{1,5}$/i, 'must be host:port')
  .refine((text) => !(Number(text.slice(text.lastIndexOf(':') + 1)) > 65_535), 'must have a port from 0 to 65535')

export const Upstream = z
  .string()
  .refine(isOrigin, 'must be an origin, http(s)://host[:port] without a path, or unix:/path/of/a/socket')

function isOrigin(text: string): boolean {
  if (/^unix:\/./.test(text)) return true
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).href === `${new URL(text).origin}/`
  )
}

export const File = z.string().min(1).meta(FILE)

const Health = z.strictObject({
  path: key(
    z.string().regex(/^\/[!-~]*$/, 'must be a path that begins with /, without spaces'),
    'Path that each server is checked at; a status below 400 is healthy',
    '/healthz',
  ),
})

export const Route = z.strictObject({
  host: key(
    z
      .string()
      .regex(/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/i, 'must be a host name, or *. and one')
      .optional(),
    'Host name, or *.shop.example for all names below; absent: any',
    'shop.example',
  ),
  path: key(
    z
      .string()
      .startsWith('/')
      .regex(/^[^?#]*$/, 'must be a path: a route is not chosen by what follows ? or #')
      .default('/'),
    'Path, with all below it',
    '/admin',
  ),
  upstreams: key(
    z.array(Upstream).min(1).optional(),
    'Servers that take turns; absent: those of the next route that fits, at last upstream',
    ['http://10.0.0.1:3000', 'unix:/run/app.sock'],
  ),
  hostHeader: key(
    z.enum(['client', 'origin']).optional(),
    'Host sent to the servers: the one that the client asked for, or the name of each server; absent: client',
    'origin',
  ),
  ca: key(
    File.optional(),
    'PEM file of the authorities of https servers; absent: those of Node',
    '/etc/sallyport/internal-ca.pem',
  ),
  health: Health.optional().describe(
    'Health checks of the servers; absent: none, and servers are left out only after failures',
  ),
  timeouts: RouteTimeouts.optional().describe('Times in place of those of all routes'),
  stream: key(
    z.boolean().optional(),
    'Whether answers may pause for any time, as those of text/event-stream always may; absent: false',
    true,
  ),
  policy: MountPolicySchema.optional().describe('Policy in place of that of all routes'),
  mode: key(z.enum(MODES).optional(), 'Mode in place of that of all routes; absent: `mode`', 'monitor'),
})

const Certificate = z.strictObject({
  cert: key(File, 'PEM file of the certificate and its chain', '/etc/sallyport/site.pem'),
  key: key(File, 'PEM file of its private key', '/etc/sallyport/site.key'),
})

const Acme = z.strictObject({
  domains: key(
    z.array(z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be a domain name')).min(1),
    'Names of the certificate; each must reach http on port 80',
    ['site.example', 'www.site.example'],
  ),
  email: key(z.email(), 'Mail address for notices of the authority', 'ops@site.example'),
  directory: key(
    z.url(HTTP).optional(),
    "Directory URL of the authority; absent: that of Let's Encrypt",
    'https://acme.internal/directory',
  ),
  ca: key(
    File.optional(),
    'PEM file of the authorities of the directory itself; absent: those of Node',
    '/etc/sallyport/acme-ca.pem',
  ),
})

const Hsts = z.strictObject({
  maxAge: key(z.int().min(0).max(63_072_000), 'Time for which browsers use https alone', 31_536_000, {
    unit: 'seconds',
  }),
  includeSubDomains: key(z.boolean().default(false), 'Whether subdomains are included', true),
  preload: key(z.boolean().default(false), 'Whether browsers may preload it', true),
})

export const Tls = z.strictObject({
  acme: Acme.optional().meta({
    description: 'Certificate that an authority issues and renews; needs http on port 80',
    ...LIVE,
  }),
  certificates: z
    .array(Certificate)
    .default([])
    .meta({
      description:
        'Certificates, chosen by server name; the first serves clients that name none. Read again when the files change',
      ...LIVE,
    }),
  http2: key(z.boolean().default(true), 'Whether clients may speak HTTP/2', false, RESTART),
  redirect: key(
    z.union([z.boolean(), z.int().min(1).max(65_535)]).default(false),
    'Whether http redirects to https: to the port of listen, or to a named one',
    true,
    { unit: 'port', ...LIVE },
  ),
  hsts: Hsts.optional().meta({ description: 'Strict-Transport-Security on every answer; absent: none', ...LIVE }),
})

export const Decoys = z.strictObject({
  paths: key(
    z.array(z.string()).max(100).default([]),
    'Paths that exist nowhere: robots.txt disallows them, and a request for one is a strike where policy.strikes.on has decoy',
    ['/archive/2019-complete', '/staff/rota'],
  ),
})

export const Handoff = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        id: key(z.string(), 'Id of the key, named in every signature', 'k2'),
        secret: key(
          z.string(),
          'Secret of 32 characters or more, which the origin has too (hmac-sha256), or a private key in PEM (ed25519)',
          'file:/run/secrets/handoff',
          SECRET,
        ),
      }),
    )
    .default([])
    .describe('Keys, of which the first signs; keep the others while origins may know only them'),
})

const LocalText = z.union([
  z.string().min(1),
  z.record(z.string().regex(/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*$/, 'must be a language, as en or pt-BR'), z.string()),
])

const ChallengeSecret = z.string().min(32)

const Provider = z
  .strictObject({
    kind: key(z.enum(PROVIDER_KINDS), 'Provider', 'turnstile'),
    url: key(
      z.url(HTTP).optional(),
      "URL of a server in place of the provider's own; cap needs it; absent: the provider's",
      'https://cap.example.com',
    ),
    siteKey: key(
      z.string().regex(/^[\w-]+$/, 'must be letters, digits, - and _'),
      'Public key of the site',
      '0x4AAAAAAAB',
    ),
    secret: key(z.string().min(1), 'Secret of the site there', 'file:/run/secrets/turnstile', SECRET),
  })
  .refine(({ kind, url }) => kind !== 'cap' || url !== undefined, { path: ['url'] })

export const Challenge = z.strictObject({
  secret: key(
    ChallengeSecret.optional(),
    'Secret of challenges and passes, 32 characters or more, the same on all machines; absent: one in dataDir',
    'file:/run/secrets/challenge',
    { ...SECRET, ...RESTART },
  ),
  previousSecret: key(
    ChallengeSecret.optional(),
    'Secret before this one, whose passes still hold; absent: none',
    'file:/run/secrets/challenge-old',
    { ...SECRET, ...RESTART },
  ),
  path: key(
    z
      .string()
      .regex(/^(?:\/[\w.-]+)+$/, 'must be a path without a slash at its end')
      .default('/.sallyport'),
    'Path below which the page sends its solution, to /pass',
    '/gate',
  ),
  partitioned: key(
    z.boolean().default(false),
    'Whether frames in pages of other sites are challenged too, with partitioned cookies; over HTTPS only',
    true,
  ),
  provider: Provider.optional().meta({
    description: 'Provider of challenges at level 3, in place of work; absent: none, and nothing is sent to anybody',
    ...RESTART,
  }),
  title: key(LocalText.optional(), 'Headline of the page, or one by language; absent: the built-in text', 'One moment'),
  text: key(
    LocalText.optional(),
    'Text below the headline, or one by language; absent: the built-in text',
    'This shop checks for automated programs.',
  ),
})

export const Refusal = z.strictObject({
  title: key(
    LocalText.optional(),
    'Headline for a blocked visitor, or one by language; absent: the built-in text',
    'Not from here',
  ),
  text: key(LocalText.optional(), 'Text below the headline, or one by language; absent: the built-in text', {
    en: 'Write to us.',
    de: 'Schreiben Sie uns.',
  }),
  contact: key(
    z.string().min(1).optional(),
    'Contact for visitors: a mail address, a URL or a sentence; absent: none',
    'help@shop.example',
  ),
  template: key(
    File.optional(),
    'HTML file with {{title}}, {{text}}, {{contact}}, {{id}}, {{status}}, {{lang}} and {{dir}}; absent: the built-in page',
    '/etc/sallyport/refusal.html',
  ),
})
