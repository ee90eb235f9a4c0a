import { SallyportError } from '@sallyport/core'

/** An origin's server has this address. */
export interface OriginAddress {
  /** The address as the configuration writes it. */
  readonly text: string
  /** Is `http://localhost` for a socket of this machine. */
  readonly url: URL
  /** Names the path of a socket of this machine. */
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
    `${key}: "${text}" is not an origin. Use http(s)://host[:port] or unix:/path/to/socket`,
  )
}
