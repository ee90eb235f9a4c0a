import { MODES } from '@sallyport/core'
import { z } from 'zod'
import { PROVIDER_KINDS } from './challenge-providers.ts'
import { FILE, key, LIVE, RESTART, SECRET } from './key.ts'
import { RouteTimeouts } from './limits.ts'
import { MountPolicySchema } from './policy-schema.ts'

/* These settings concern clients and origins: TLS, routes, the page of a refusal. */

export const HTTP = { protocol: /^https?$/, error: 'must be an http or https URL' }

/** `host:port`, an IPv6 host in brackets; port 0 takes a free one. */
export const Listen = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[^\s:[\]]+):\d{1,5}$/i, 'must be host:port')
  .refine((text) => !(Number(text.slice(text.lastIndexOf(':') + 1)) > 65_535), 'must have a port from 0 to 65535')

export const Upstream = z
  .string()
  .refine(isOrigin, 'must be an origin, http(s)://host[:port] without a path, or unix:/path/to/socket')

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
    'Health check path; a status below 400 is healthy',
    '/healthz',
  ),
})

export const Route = z.strictObject({
  host: key(
    z
      .string()
      .regex(/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/i, 'must be a host name, or *. and one')
      .optional(),
    'Host name, or *.shop.example for all subdomains; absent: any',
    'shop.example',
  ),
  path: key(
    z
      .string()
      .startsWith('/')
      .regex(/^[^?#]*$/, 'must be a path without ? or #')
      .default('/'),
    'Path, including everything below it',
    '/admin',
  ),
  upstreams: key(
    z.array(Upstream).min(1).optional(),
    'Servers, used in turn; absent: from the next route that matches, or upstream',
    ['http://10.0.0.1:3000', 'unix:/run/app.sock'],
  ),
  hostHeader: key(
    z.enum(['client', 'origin']).optional(),
    "Host header for servers: as the client sent it, or each server's name; absent: client",
    'origin',
  ),
  ca: key(File.optional(), "PEM file of CAs for https servers; absent: Node's CAs", '/etc/sallyport/internal-ca.pem'),
  health: Health.optional().describe(
    'Health checks of the servers; absent: none, and only failed requests mark a server as unhealthy',
  ),
  timeouts: RouteTimeouts.optional().describe('Timeouts that replace the global timeouts'),
  stream: key(
    z.boolean().optional(),
    'Whether responses may pause indefinitely, as text/event-stream always may; absent: false',
    true,
  ),
  policy: MountPolicySchema.optional().describe('Policy that replaces the global policy'),
  mode: key(z.enum(MODES).optional(), 'Mode of this route; absent: `mode`', 'monitor'),
})

const Certificate = z.strictObject({
  cert: key(File, 'PEM file with the certificate chain', '/etc/sallyport/site.pem'),
  key: key(File, 'PEM file with the private key', '/etc/sallyport/site.key'),
})

const Acme = z.strictObject({
  domains: key(
    z.array(z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be a domain name')).min(1),
    'Names in the certificate; each must reach `http` on port 80',
    ['site.example', 'www.site.example'],
  ),
  email: key(z.email(), 'Email address for notices from the CA', 'ops@site.example'),
  directory: key(
    z.url(HTTP).optional(),
    "Directory URL of the CA; absent: Let's Encrypt",
    'https://acme.internal/directory',
  ),
  ca: key(
    File.optional(),
    "PEM file of CAs that the directory server's certificate may use; absent: Node's CAs",
    '/etc/sallyport/acme-ca.pem',
  ),
})

/** Matches the value of Strict-Transport-Security (RFC 6797, section 6.1). */
const HSTS = /^max-age=\d+(; ?(includeSubDomains|preload))*$/i

const NO_HSTS = 'must be a header value, such as max-age=31536000; includeSubDomains'

export const Tls = z.strictObject({
  acme: Acme.optional().meta({
    description: 'Certificate issued and renewed by ACME; needs http on port 80',
    ...LIVE,
  }),
  certificates: z
    .array(Certificate)
    .default([])
    .meta({
      description:
        'Certificates, chosen by server name; the first serves clients without a server name. Changed files are reread',
      ...LIVE,
    }),
  http2: key(z.boolean().default(true), 'Whether clients may speak HTTP/2', false, RESTART),
  redirect: key(
    z.union([z.boolean(), z.int().min(1).max(65_535)]).default(false),
    'Whether `http` redirects to https: to the port of `listen`, or to the port given',
    true,
    { unit: 'port', ...LIVE },
  ),
  hsts: key(
    z.string(NO_HSTS).regex(HSTS, NO_HSTS).optional(),
    'Strict-Transport-Security header of https responses; absent: none',
    'max-age=31536000; includeSubDomains',
    LIVE,
  ),
})

export const Decoys = z.strictObject({
  paths: key(
    z.array(z.string()).max(100).default([]),
    'Fake paths, which robots.txt disallows. A request for one is a strike if policy.strikes.on lists decoy',
    ['/archive/2019-complete', '/staff/rota'],
  ),
})

export const Handoff = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        id: key(z.string(), 'Key ID, named in every signature', 'k2'),
        secret: key(
          z.string(),
          'Secret shared with the origin (hmac-sha256, at least 32 characters), or PEM private key (ed25519)',
          'file:/run/secrets/handoff',
          SECRET,
        ),
      }),
    )
    .default([])
    .describe('Keys; the first signs. Keep an old key until every origin knows the new key'),
})

const LocalText = z.union([
  z.string().min(1),
  z.record(z.string().regex(/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*$/, 'is not a language like en or pt-BR'), z.string()),
])

const ChallengeSecret = z.string().min(32)

const Provider = z
  .strictObject({
    kind: key(z.enum(PROVIDER_KINDS), 'Challenge provider', 'turnstile'),
    url: key(z.url(HTTP).optional(), "Server URL, required for cap; absent: the provider's", 'https://cap.example.com'),
    siteKey: key(z.string().regex(/^[\w-]+$/, 'must be letters, digits, - and _'), 'Public site key', '0x4AAAAAAAB'),
    secret: key(z.string().min(1), 'Secret of the site at the provider', 'file:/run/secrets/turnstile', SECRET),
  })
  .refine(({ kind, url }) => kind !== 'cap' || url !== undefined, { path: ['url'] })

export const Challenge = z.strictObject({
  secret: key(
    ChallengeSecret.optional(),
    'Secret of challenges and passes, at least 32 characters, identical on all machines; absent: generated in dataDir',
    'file:/run/secrets/challenge',
    { ...SECRET, ...RESTART },
  ),
  previousSecret: key(
    ChallengeSecret.optional(),
    'Previous secret, whose passes remain valid; absent: none',
    'file:/run/secrets/challenge-old',
    { ...SECRET, ...RESTART },
  ),
  path: key(
    z
      .string()
      .regex(/^(?:\/[\w.-]+)+$/, 'must be a path without a trailing slash')
      .default('/.sallyport'),
    'Path prefix of /pass, which receives solutions',
    '/gate',
  ),
  partitioned: key(
    z.boolean().default(false),
    'Whether cross-site frames are challenged, with partitioned cookies (HTTPS only)',
    true,
  ),
  provider: Provider.optional().meta({
    description: 'Provider of level 3 challenges; absent: proof of work, and nothing is sent to third parties',
    ...RESTART,
  }),
  title: key(LocalText.optional(), 'Headline, optionally by language; absent: built-in', 'One moment'),
  text: key(
    LocalText.optional(),
    'Text below the headline, optionally by language; absent: built-in',
    'This shop checks for automated programs.',
  ),
})

export const Refusal = z.strictObject({
  title: key(LocalText.optional(), 'Headline, optionally by language; absent: built-in', 'Not from here'),
  text: key(LocalText.optional(), 'Text below the headline, optionally by language; absent: built-in', {
    en: 'Write to us.',
    de: 'Schreiben Sie uns.',
  }),
  contact: key(
    z.string().min(1).optional(),
    'Contact for visitors: email address, URL or sentence; absent: none',
    'help@shop.example',
  ),
  template: key(
    File.optional(),
    'HTML template with {{title}}, {{text}}, {{contact}}, {{id}}, {{status}}, {{lang}} and {{dir}}; absent: built-in',
    '/etc/sallyport/refusal.html',
  ),
})
