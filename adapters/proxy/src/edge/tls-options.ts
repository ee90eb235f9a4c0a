import { type AcmeOptions, acmeFiles } from '../acme/order.ts'
import type { CertificateFiles } from './certificates.ts'

/** How TLS is served; the key `tls` of the configuration. */
export interface TlsOptions {
  /** The first is for clients that name no server, or one that no certificate has. */
  readonly certificates?: readonly CertificateFiles[] | undefined
  /** A certificate that an authority issues, beside those or in their place. */
  readonly acme?: (AcmeOptions & AcmePlace) | undefined
  /** Default: true. */
  readonly http2?: boolean | undefined
  /** Whether what comes to the listener `http` is sent to https: to its port, or to one that is named. Default: false. */
  readonly redirect?: boolean | number | undefined
  /** `Strict-Transport-Security` (RFC 6797); absent: none. */
  readonly hsts?: HstsOptions | undefined
}

/** Folder of the ACME files, and who orders. */
export interface AcmePlace {
  /** Folder of the account, the certificate and the challenges; all processes share it. */
  readonly folder: string
  /** Whether this process orders: one of all does. */
  readonly orders: boolean
}

export interface HstsOptions {
  /** In seconds. */
  readonly maxAge: number
  readonly includeSubDomains?: boolean | undefined
  readonly preload?: boolean | undefined
}

/** All that are served; the one of an authority last. */
export function certificateFiles({ certificates = [], acme }: TlsOptions): readonly CertificateFiles[] {
  if (acme === undefined) return certificates
  const { cert, key } = acmeFiles(acme.folder)
  return [...certificates, { cert, key, awaited: true }]
}

/** The value of `Strict-Transport-Security`. */
export function hstsField({ maxAge, includeSubDomains, preload }: HstsOptions): string {
  return [
    `max-age=${maxAge}`,
    ...(includeSubDomains ? ['includeSubDomains'] : []),
    ...(preload ? ['preload'] : []),
  ].join('; ')
}
