import type { CertificateFiles } from './certificates.ts'

/** How TLS is served; the key `tls` of the configuration. */
export interface TlsOptions {
  /** The first is for clients that name no server, or one that no certificate has. */
  readonly certificates?: readonly CertificateFiles[] | undefined
  /** Default: true. */
  readonly http2?: boolean | undefined
  /** Whether what comes to the listener `http` is sent to https: to its port, or to one that is named. Default: false. */
  readonly redirect?: boolean | number | undefined
  /** `Strict-Transport-Security` (RFC 6797); absent: none. */
  readonly hsts?: HstsOptions | undefined
}

export interface HstsOptions {
  /** In seconds. */
  readonly maxAge: number
  readonly includeSubDomains?: boolean | undefined
  readonly preload?: boolean | undefined
}

/** The value of `Strict-Transport-Security`. */
export function hstsField({ maxAge, includeSubDomains, preload }: HstsOptions): string {
  return [
    `max-age=${maxAge}`,
    ...(includeSubDomains ? ['includeSubDomains'] : []),
    ...(preload ? ['preload'] : []),
  ].join('; ')
}
