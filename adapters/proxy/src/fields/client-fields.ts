import { FORWARDING_HEADERS, isNamed } from '@sallyport/core'
import { SOLUTION_FIELD } from '@sallyport/core/host'
import { foldedName, isReserved, VERDICT_NAMES } from '@sallyport/node/internal'
import { createSpellings } from './spellings.ts'

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

const readName = createSpellings(CLIENT_FIELDS)

/** How a server in front was reached, by names beside `X-Forwarded-*`: of its scheme, its certificate (RFC 9440 2.4), its path. */
const FRONT_FIELDS = [
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

const readFront = createSpellings(FRONT_FIELDS)

/**
 * The name by which programs read how a server in front was reached, where a field may be read as one; else undefined. A
 * trusted server writes them as they are named here; of anybody else, and in another spelling, they end here.
 */
export function frontName(field: string): string | undefined {
  const read = readFront(field)
  if (read !== undefined || field.length <= FORWARDED.length || (field.charCodeAt(2) | 0x20) !== 0x66) return read
  const folded = foldedName(field)
  return folded.startsWith(FORWARDED) ? folded : undefined
}

const FORWARDED = 'x-forwarded-'

/** Names of ours that a server in front replaces or removes, and the one that is a client's to write. */
const TAKEN_NAMES = [...VERDICT_NAMES, SOLUTION_FIELD]

/**
 * The first name of a request that a server in front does not take away or write itself, and that a program behind it may
 * read as one of ours or of that server: another spelling (`X_Forwarded_For`), or one of `Sallyport-` that we do not write.
 * `clientHeader`: the one in which that server names the client, as it is configured.
 */
export function foreignName(fields: readonly string[], clientHeader: string): string | undefined {
  const [client, folded] = [clientHeader.toLowerCase(), foldedName(clientHeader)]
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] as string
    const read = readName(field) ?? frontName(field)
    if (read !== undefined && !isNamed(field, read)) return field
    if (field.length === client.length && foldedName(field) === folded && !isNamed(field, client)) return field
    if (isReserved(field) && !TAKEN_NAMES.some((name) => isNamed(field, name))) return field
  }
  return undefined
}
