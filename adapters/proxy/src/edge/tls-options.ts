import { type AcmeKeys, acmeFiles } from '../acme/order.ts'
import type { CertificateFiles } from './certificates.ts'

/** Says how TLS is served; the key `tls` of the configuration. */
export interface TlsOptions {
  /** Lists certificates; the first serves clients that name no server, or a server without a certificate. */
  readonly certificates?: readonly CertificateFiles[] | undefined
  /** Asks an authority for a certificate, which serves beside the listed certificates or in their place. */
  readonly acme?: AcmeKeys | undefined
  /** Whether HTTP/2 is served; default: true. */
  readonly http2?: boolean | undefined
  /** Whether requests to the listener `http` are redirected to https: to its port, or to a named port. Default: false. */
  readonly redirect?: boolean | number | undefined
  /** The value that `Strict-Transport-Security` has (RFC 6797); absent: no such header. */
  readonly hsts?: string | undefined
}

/** Lists all served certificates, the authority's last. */
export function certificateFiles({ certificates = [], acme }: TlsOptions): readonly CertificateFiles[] {
  if (acme === undefined) return certificates
  const { cert, key } = acmeFiles(acme.folder)
  return [...certificates, { cert, key, awaited: true }]
}
