import { isIP } from 'node:net'
import { SallyportError } from '@sallyport/core'
import { readCertificates } from '@sallyport/engine/files'
import { buildConnector } from 'undici'
import type { OriginAddress } from './address.ts'
import { passOverContinue } from './interim.ts'

/** The certificates that are accepted from an origin. */
export interface OriginTrust {
  /** In PEM; absent: the authorities that Node trusts. */
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

/** The name by which an origin must be known; an address is no server name (RFC 6066 3). */
export function serverNameOf({ url }: OriginAddress): string {
  return isIP(url.hostname) === 0 ? url.hostname : ''
}

/** Connects to a server within `timeout` milliseconds. Its certificate must be its own, whatever Host the client asked for. */
export function connectorTo(address: OriginAddress, timeout: number, { ca }: OriginTrust): buildConnector.connector {
  const { socketPath } = address
  const connect = buildConnector({ timeout, ...(socketPath && { socketPath }), ...(ca !== undefined && { ca }) })
  return (to, done) =>
    connect({ ...to, servername: serverNameOf(address) }, (...result) => {
      done(...result)
      const [, socket] = result
      if (socket) passOverContinue(socket)
    })
}
