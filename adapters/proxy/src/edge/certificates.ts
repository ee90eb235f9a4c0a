import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { SallyportError } from '@sallyport/core'
import { readWhole } from '@sallyport/engine/files'

/** A chain of certificates and its key, in PEM; the certificate of the server first. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
  /** It may not be there yet: nothing is said of that. */
  readonly awaited?: boolean | undefined
}

/** A certificate that can be served. */
export interface Certificate {
  /** File that it was read from. */
  readonly file: string
  readonly pem: { readonly cert: string; readonly key: string }
  readonly context: SecureContext
  /** DNS names in lower case; one may begin with `*.`. */
  readonly names: readonly string[]
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

/** Reads a pair; rejects with `invalid_config` and what is wrong with it. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = [textOf(files.cert), textOf(files.key)]
  const [leaf, secret] = [leafOf(files.cert, cert), keyOf(files.key, key)]
  if (!leaf.checkPrivateKey(secret)) throw unusable(`${files.cert} does not fit the key ${files.key}`)
  try {
    const context = createSecureContext({ cert, key })
    const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
    return { file: files.cert, pem: { cert, key }, context, names: namesOf(leaf), notBefore, notAfter }
  } catch (error) {
    throw unusable(`${files.cert} cannot be served: ${error instanceof Error ? error.message : error}`)
  }
}

/** The fault of its dates, in words that follow the name of its file; `undefined` where there is none. */
export function dateFault({ notBefore, notAfter }: Certificate, now = Date.now()): string | undefined {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10)
  if (notAfter < now) return `has expired on ${day(notAfter)}`
  return notBefore > now ? `is not valid before ${day(notBefore)}` : undefined
}

/** The certificate for a server name: one with the name, else one for all names beside it, else the first. */
export function certificateFor(certificates: readonly Certificate[], serverName: string): Certificate | undefined {
  const name = serverName.toLowerCase()
  const wildcard = `*${name.slice(name.indexOf('.'))}`
  return (
    certificates.find(({ names }) => names.includes(name)) ??
    certificates.find(({ names }) => name.includes('.') && names.includes(wildcard)) ??
    certificates[0]
  )
}

function textOf(file: string): string {
  try {
    return readWhole(file)
  } catch (error) {
    throw unusable(`${file} ${(error as Error).message}`)
  }
}

function leafOf(file: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw unusable(`${file} is not a certificate in PEM`)
  }
}

function keyOf(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw unusable(`${file} is not a private key in PEM without a passphrase`)
  }
}

function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,\s"]+)/g)].map(([, name]) => (name as string).toLowerCase())
}

function unusable(reason: string): SallyportError {
  return new SallyportError('invalid_config', `tls: ${reason}`)
}
