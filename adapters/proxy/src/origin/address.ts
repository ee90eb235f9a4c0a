import { SallyportError } from '@sallyport/core'

/** Address of an origin's server. */
export interface OriginAddress {
  /** As it is written. */
  readonly text: string
  /** For a socket of this machine: `http://localhost`. */
  readonly url: URL
  /** Path of a socket of this machine. */
  readonly socketPath?: string | undefined
}

/** Reads `http(s)://host[:port]` or `unix:/path`; throws `invalid_config`, with the name of the key. */
export function originAddress(text: string, key = 'upstream'): OriginAddress {
  const socketPath = /^unix:(\/.+)$/.exec(text)?.[1]
  if (socketPath !== undefined) return { text, url: new URL('http://localhost'), socketPath }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return { text: url.origin, url }
  throw new SallyportError(
    'invalid_config',
    `${key}: "${text}" is not an origin: http(s)://host[:port], or unix:/path/of/a/socket`,
  )
}
