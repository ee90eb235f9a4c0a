import { SallyportError } from '@sallyport/core'
import type { CertificateFiles } from './edge/certificates.ts'

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

/** The field that browsers are told at every answer over TLS. */
export function hstsField({ maxAge, includeSubDomains, preload }: HstsOptions): string {
  return [
    `max-age=${maxAge}`,
    ...(includeSubDomains ? ['includeSubDomains'] : []),
    ...(preload ? ['preload'] : []),
  ].join('; ')
}

/** Checks what depends on each other; throws `invalid_config`. */
export function checkTls(tls: TlsOptions | undefined, http: string | undefined): void {
  const redirects = tls?.redirect !== undefined && tls.redirect !== false
  if (http !== undefined && tls === undefined) {
    throw new SallyportError('invalid_config', 'http: is the plain listener beside TLS; without tls, name it in listen')
  }
  if (redirects && http === undefined) {
    throw new SallyportError('invalid_config', 'tls.redirect: needs http, the plain listener that it redirects')
  }
  if (tls !== undefined && (tls.certificates ?? []).length === 0) {
    throw new SallyportError('invalid_config', 'tls.certificates: names no certificate')
  }
}
