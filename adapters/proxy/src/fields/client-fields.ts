import { FORWARDING_HEADERS, type TrustedHeaders } from '@sallyport/core'
import { SOLUTION_FIELD } from '@sallyport/core/host'
import { foldedName, isReserved, VERDICT_NAMES } from '@sallyport/node/internal'

/** Fields by which proxies, CDNs and platforms name the client or its request: the origin must get only ours. */
export const CLIENT_FIELDS: readonly string[] = [
  ...FORWARDING_HEADERS,
  'forwarded-for',
  'x-forwarded',
  'x-forwarded-by',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-remote-ip',
  'x-remote-addr',
  'x-originating-ip',
  'x-proxyuser-ip',
  'cf-pseudo-ipv4',
  'x-nf-client-connection-ip',
  'x-vercel-forwarded-for',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'incap-client-ip',
  'eo-connecting-ip',
  'eo-client-ip',
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'x-sucuri-clientip',
  // The next fields name another site, path or method than the judged one.
  'x-host',
  'x-original-host',
  'x-http-host-override',
  'x-original-url',
  'x-rewrite-url',
  'x-forwarded-uri',
  'x-forwarded-method',
  'x-original-uri',
  'x-original-method',
]

const CLIENT_NAMES: ReadonlySet<string> = new Set(CLIENT_FIELDS)

/** Fields that say how a client reached a server in front, beside `X-Forwarded-*`: its scheme, its certificate (RFC 9440 2.4), its path. */
export const FRONT_FIELDS: readonly string[] = [
  'front-end-https',
  'x-scheme',
  'x-url-scheme',
  'x-client-scheme',
  'client-cert',
  'client-cert-chain',
  'x-envoy-original-path',
  'x-original-path',
  'x-script-name',
]

const FRONT_NAMES: ReadonlySet<string> = new Set(FRONT_FIELDS)

/**
 * Reports whether programs read a name, as `foldedName` writes it, for how a client reached a server in front. A trusted server writes the
 * names as listed here; from any other client, and in another spelling, the fields are dropped.
 */
export function isFrontName(folded: string): boolean {
  return FRONT_NAMES.has(folded) || (folded.length > FORWARDED.length && folded.startsWith(FORWARDED))
}

const FORWARDED = 'x-forwarded-'

/** Our names that a server in front replaces or removes, and the one name that a client may write. */
const TAKEN_NAMES: ReadonlySet<string> = new Set([...VERDICT_NAMES, SOLUTION_FIELD])

/**
 * Returns the first name of a request that the server in front neither removes nor writes, and that a program behind it may read as ours or
 * as that server's: another spelling (`X_Forwarded_For`), or a `Sallyport-` name that we do not write. `headers` names the configured
 * headers of the client and its JA4.
 */
export function foreignName(
  fields: readonly string[],
  { clientHeader = 'x-forwarded-for', ja4Header }: TrustedHeaders,
): string | undefined {
  const named = [clientHeader, ...(ja4Header === undefined ? [] : [ja4Header])].map((name) => name.toLowerCase())
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] as string
    const lower = field.toLowerCase()
    const folded = foldedName(field)
    if (lower !== folded && (CLIENT_NAMES.has(folded) || isFrontName(folded))) return field
    if (named.some((name) => folded === foldedName(name) && lower !== name)) return field
    if (isReserved(field) && !TAKEN_NAMES.has(lower)) return field
  }
  return undefined
}
