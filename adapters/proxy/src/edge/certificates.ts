import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { readWhole } from '@sallyport/engine/files'
import { type Chain, examineChain, PairFault, readChain } from './chain.ts'

/** A chain of certificates and its key as files in PEM; the certificate of the server comes first. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
  /** Whether the files may still be missing, without a notice. */
  readonly awaited?: boolean | undefined
}

export interface Certificate extends Chain {
  readonly file: string
  readonly pem: { readonly cert: string; readonly key: string }
  readonly context: SecureContext
  /** Lists DNS names in lower case; a name may begin with `*.`. */
  readonly names: readonly string[]
}

/** Reads a pair; rejects with `invalid_config` and the fault of the pair. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = [readText(files, 'cert'), readText(files, 'key')]
  const [chain, secret] = [readChain(files.cert, cert), parseKey(files.key, key)]
  const [leaf] = chain as readonly [X509Certificate]
  if (!leaf.checkPrivateKey(secret)) throw new PairFault('cert', fitFault(files, chain, secret))
  const kind = kindWithoutClients(secret)
  if (kind !== undefined) throw new PairFault('cert', `${files.cert} has a key that no client supports (${kind})`)
  try {
    const context = createSecureContext({ cert, key })
    return { file: files.cert, pem: { cert, key }, context, names: listNames(leaf), ...examineChain(chain) }
  } catch (error) {
    throw new PairFault('cert', `${files.cert} ${contextFault(error)}`)
  }
}

/** Describes the fault of a chain's dates, to follow the name of its file; `undefined` where the dates are good. */
export function dateFault({ notBefore, notAfter, begins, ends }: Chain, now = Date.now()): string | undefined {
  if (notAfter < now) return inChain(ends, `expired on ${formatDay(notAfter)}`)
  return notBefore > now ? inChain(begins, `is not valid before ${formatDay(notBefore)}`) : undefined
}

export function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Words a fault of a certificate in a chain, to follow the name of its file; without a subject the fault is of the first certificate. */
export function inChain(subject: string | undefined, said: string): string {
  return subject === undefined ? said : `has ${subject} in its chain, which ${said}`
}

/** Chooses the certificate for a server name: one with the name, else one with a wildcard for it, else the first. */
export function certificateFor(certificates: readonly Certificate[], serverName: string): Certificate | undefined {
  const name = serverName.toLowerCase()
  const wildcard = `*${name.slice(name.indexOf('.'))}`
  return (
    certificates.find(({ names }) => names.includes(name)) ??
    certificates.find(({ names }) => name.includes('.') && names.includes(wildcard)) ??
    certificates[0]
  )
}

function readText(files: CertificateFiles, of: 'cert' | 'key'): string {
  try {
    return readWhole(files[of])
  } catch (error) {
    throw new PairFault(of, `${files[of]} ${(error as Error).message}`)
  }
}

function fitFault({ cert, key }: CertificateFiles, chain: readonly X509Certificate[], secret: KeyObject): string {
  const at = chain.findIndex((one) => one.checkPrivateKey(secret))
  if (at < 0) return `${cert} does not match the key ${key}`
  return `the server certificate must be first in ${cert}, but certificate ${at + 1} matches the key ${key}`
}

function parseKey(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new PairFault('key', `${file} is not a private key in PEM without a passphrase`)
  }
}

/** Curves that TLS 1.3 has (RFC 8446 4.2.3); clients sign with no other curve in 1.2. */
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/** Returns the kind of a key with which every handshake fails, although OpenSSL creates a context for it; `undefined` for other keys. */
function kindWithoutClients({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | undefined {
  if (type === 'dsa') return 'DSA'
  const { namedCurve = 'an unnamed curve' } = details ?? {}
  return type === 'ec' && !CURVES.has(namedCurve) ? namedCurve : undefined
}

/** Words the refusals of OpenSSL, by the codes of Node, to follow the name of the file. */
const CONTEXT_FAULTS: Readonly<Record<string, string>> = {
  ERR_SSL_EE_KEY_TOO_SMALL: 'has a key that is too short: RSA needs 2048 bits',
  ERR_SSL_CA_KEY_TOO_SMALL: 'has a CA whose key is too short: RSA needs 2048 bits',
  ERR_SSL_CA_MD_TOO_WEAK: 'is signed with a digest that is too weak. Use SHA-256',
}

function contextFault(error: unknown): string {
  const { code = '', reason = String(error) } = error as { code?: string | undefined; reason?: string | undefined }
  return CONTEXT_FAULTS[code] ?? `cannot be served: ${reason}`
}

function listNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,\s"]+)/g)].map(([, name]) => (name as string).toLowerCase())
}
