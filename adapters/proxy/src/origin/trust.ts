import { isIP } from 'node:net'
import { SallyportError } from '@sallyport/core'
import { readCertificates } from '@sallyport/engine/files'
import { buildConnector } from 'undici'
import type { OriginAddress } from './address.ts'
import { passOverContinue } from './connection.ts'

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
