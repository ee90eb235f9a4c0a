import { isIP } from 'node:net'
import { SallyportError } from '@sallyport/core'
import { readCertificates } from '@sallyport/engine/files'
import { buildConnector } from 'undici'
import { passOverContinue } from './connection.ts'

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

/** Says which certificates of an origin are accepted. */
export interface OriginTrust {
  /** Holds certificates of authorities in PEM; absent: the authorities that Node trusts. */
  readonly ca?: string | undefined
}

/** Reads the authorities of a route; throws `invalid_config`. */
export function readTrust(file: string | undefined, key: string): OriginTrust {
  if (file === undefined) return {}
  try {
    return { ca: readCertificates(file) }
  } catch (error) {
    throw new SallyportError('invalid_config', `${key}: ${file} ${(error as Error).message}`)
  }
}

/** Returns the name that an origin's certificate must have; an address is no server name (RFC 6066 3). */
export function readServerName({ url }: OriginAddress): string {
  return isIP(url.hostname) === 0 ? url.hostname : ''
}

/** Connects to a server within `timeout` milliseconds. The certificate must name the server itself, whatever Host the client sent. */
export function connectorTo(address: OriginAddress, timeout: number, { ca }: OriginTrust): buildConnector.connector {
  const { socketPath } = address
  const connect = buildConnector({ timeout, ...(socketPath && { socketPath }), ...(ca !== undefined && { ca }) })
  return (to, done) =>
    connect({ ...to, servername: readServerName(address) }, (...result) => {
      done(...result)
      const [, socket] = result
      if (socket) passOverContinue(socket)
    })
}
