import { FORWARDING_HEADERS } from '@sallyport/core'
import { SOLUTION_FIELD } from '@sallyport/core/host'
import { foldedName, isReserved, VERDICT_NAMES } from '@sallyport/node/internal'

/** The fields by which proxies, CDNs and platforms name the client or its request: the origin must get only ours. */
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
  // These name another site, another path or another method than was judged.
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

/** How a server in front was reached, by names beside `X-Forwarded-*`: of its scheme, its certificate (RFC 9440 2.4), its path. */
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
 * Whether programs read a name, as `foldedName` writes it, for how a server in front was reached. A trusted server writes those names as
 * they are listed here; from any other client, and in another spelling, the fields end here.
 */
export function isFrontName(folded: string): boolean {
  return FRONT_NAMES.has(folded) || (folded.length > FORWARDED.length && folded.startsWith(FORWARDED))
}

/** Whether a name, as `foldedName` writes it, is one by which proxies name the client or its request. */
export function isClientName(folded: string): boolean {
  return CLIENT_NAMES.has(folded)
}

const FORWARDED = 'x-forwarded-'

/** Names of ours that a server in front replaces or removes, and the one that is a client's to write. */
const TAKEN_NAMES: ReadonlySet<string> = new Set([...VERDICT_NAMES, SOLUTION_FIELD])

/**
 * The first name of a request that a server in front does not take away or write itself, and that a program behind it may
 * read as one of ours or of that server: another spelling (`X_Forwarded_For`), or one of `Sallyport-` that we do not write.
 * `clientHeader`: the one in which that server names the client, as it is configured.
 */
export function foreignName(fields: readonly string[], clientHeader: string): string | undefined {
  const [client, foldedClient] = [clientHeader.toLowerCase(), foldedName(clientHeader)]
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] as string
    const lower = field.toLowerCase()
    const folded = foldedName(field)
    if (lower !== folded && (isClientName(folded) || isFrontName(folded))) return field
    if (folded === foldedClient && lower !== client) return field
    if (isReserved(field) && !TAKEN_NAMES.has(lower)) return field
  }
  return undefined
}
