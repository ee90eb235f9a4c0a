import { parseAddress } from '../../address/address.ts'
import { parseUrl } from '../../parse-url.ts'
import type { NamedAgent } from './message.ts'

/** Locates an agent's keys, and names the agent by that location. */
export interface KeySource {
  /** The URL of the keys, or of the card that names them; without query and fragment it is the agent's identifier. */
  readonly url: string
  readonly identifier: string
  /** `card` is a Signature Agent Card, which holds the keys or names their place. */
  readonly form: 'keys' | 'card'
  /** Neither the configuration nor the catalogue knows the agent: a visitor named it. */
  readonly stranger?: true | undefined
}

/** A directory has this path under its origin (draft-ietf-webbotauth-httpsig-protocol). */
export const DIRECTORY_PATH = '/.well-known/http-message-signatures-directory'

const MAX_CHARACTERS = 512

/**
 * Returns the place of an agent's keys, as `Signature-Agent` names it; `undefined` for any but https on its own port at a public name.
 * `permitted` are origins that the configuration names, which may be of any kind, such as test servers.
 */
export function findKeySource({ uri, type }: NamedAgent, permitted: ReadonlySet<string>): KeySource | undefined {
  const url = uri.length > MAX_CHARACTERS ? undefined : parseUrl(uri)
  if (url === undefined) return undefined
  if (url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  if (!permitted.has(url.origin) && !isPublicHttps(url)) return undefined
  const identifier = url.origin + url.pathname
  switch (type) {
    case 'directory':
      if (url.pathname !== '/' || url.search !== '') return undefined
      return { url: url.origin + DIRECTORY_PATH, identifier: url.origin, form: 'keys' }
    case 'jwks_uri':
      return { url: url.href, identifier, form: 'keys' }
    case 'cimd':
      return { url: url.href, identifier, form: 'card' }
    default:
      return undefined
  }
}

/** Accepts https at its own port, at a name with a dot that is no address. The fetcher checks that the name is public. */
function isPublicHttps({ protocol, port, hostname }: URL): boolean {
  if (protocol !== 'https:' || port !== '' || hostname.startsWith('[')) return false
  return hostname.includes('.') && parseAddress(hostname) === undefined
}
