import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { readWhole } from '@sallyport/engine/files'
import { orderFault, PairFault, readChain, usageFault } from './chain.ts'

/** A chain of certificates and its key as files in PEM; the certificate of the server comes first. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
  /** Whether the files may still be missing, without a notice. */
  readonly awaited?: boolean | undefined
}

export interface Certificate {
  readonly file: string
  readonly pem: { readonly cert: string; readonly key: string }
  readonly context: SecureContext
  /** Lists DNS names in lower case; a name may begin with `*.`. */
  readonly names: readonly string[]
  /** The begin and the end, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** Lists faults for which some clients refuse the chain, worded to follow the name of its file. */
  readonly faults: readonly string[]
}

/** Reads a pair; rejects with `invalid_config` and the fault of the pair. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = [readText(files, 'cert'), readText(files, 'key')]
  const [chain, secret] = [readChain(files.cert, cert), parseKey(files.key, key)]
  const [leaf] = chain as readonly [X509Certificate]
  if (!leaf.checkPrivateKey(secret)) throw new PairFault('cert', fitFault(files, chain, secret))
  try {
    return {
      file: files.cert,
      pem: { cert, key },
      context: createSecureContext({ cert, key }),
      names: listNames(leaf),
      notBefore: Date.parse(leaf.validFrom),
      notAfter: Date.parse(leaf.validTo),
      faults: [orderFault(chain), usageFault(leaf)].filter((fault) => fault !== undefined),
    }
  } catch (error) {
    const { reason = String(error) } = error as { readonly reason?: string | undefined }
    throw new PairFault('cert', `${files.cert} cannot be served: ${reason}`)
  }
}

/** Describes the fault of a certificate's dates, to follow the name of its file; `undefined` where the dates are good. */
export function dateFault({ notBefore, notAfter }: Certificate, now = Date.now()): string | undefined {
  if (notAfter < now) return `expired on ${formatDay(notAfter)}`
  return notBefore > now ? `is not valid before ${formatDay(notBefore)}` : undefined
}

export function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
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

function listNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,\s"]+)/g)].map(([, name]) => (name as string).toLowerCase())
}
