import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { SallyportError } from '@sallyport/core'

/** Holds dates and faults of a chain, whose first certificate belongs to the server. */
export interface Chain {
  /** The latest begin of a certificate that clients need, in milliseconds since the epoch, as the next two. */
  readonly notBefore: number
  /** The earliest end of a certificate that clients need. */
  readonly notAfter: number
  /** How long the server's certificate was issued for, in milliseconds. */
  readonly life: number
  /** Subjects of the certificate that begins last and of the one that ends first, where they are not the server's. */
  readonly begins?: string | undefined
  readonly ends?: string | undefined
  /** Lists faults for which some clients refuse the chain, worded to follow the name of its file. */
  readonly faults: readonly string[]
}

/** OpenSSL reads blocks with these labels as certificates. */
const LABELS = ['CERTIFICATE', 'X509 CERTIFICATE', 'TRUSTED CERTIFICATE']

/** Says which file of a pair prevents serving the pair. */
export class PairFault extends SallyportError {
  readonly of: 'cert' | 'key'
  constructor(of: 'cert' | 'key', reason: string) {
    super('invalid_config', `tls: ${reason}`)
    this.of = of
  }
}

/** Reads the certificates of a text in PEM, in their order. Throws a `PairFault` that names the certificate that cannot be read. */
export function readChain(file: string, pem: string): readonly X509Certificate[] {
  const blocks = splitBlocks(pem)
  if (blocks.length === 0) throw new PairFault('cert', `${file} is not a certificate in PEM`)
  return blocks.map(({ text, isAlone }, at) => {
    const which = `certificate ${at + 1} of ${file}`
    if (!isAlone)
      throw new PairFault('cert', `${which} has text after its end marker. Start the next certificate on a new line`)
    try {
      return new X509Certificate(text)
    } catch {
      throw new PairFault(
        'cert',
        blocks.length === 1 ? `${file} is not a certificate in PEM` : `${which} is truncated or not a certificate`,
      )
    }
  })
}

/** Reads the dates of the certificates that clients need, and finds faults of order and use. */
export function examineChain(all: readonly X509Certificate[]): Chain {
  const [leaf] = all as readonly [X509Certificate]
  const others = all.filter(({ fingerprint256 }) => fingerprint256 !== leaf.fingerprint256)
  const needed = findPath(leaf, others)
  const last = needed.reduce((one, other) => (readBegin(other) > readBegin(one) ? other : one))
  const first = needed.reduce((one, other) => (readEnd(other) < readEnd(one) ? other : one))
  const nameUnlessLeaf = (one: X509Certificate) => (one === leaf ? undefined : readName(one.subject))
  const faults = [orderFault(leaf, others[0]), usageFault(leaf)].filter((fault) => fault !== undefined)
  return {
    notBefore: readBegin(last),
    notAfter: readEnd(first),
    life: readEnd(first) - readBegin(first),
    begins: nameUnlessLeaf(last),
    ends: nameUnlessLeaf(first),
    faults,
  }
}

/**
 * Finds the certificates that lead from the leaf to a root. A root that clients have themselves, by its name and key, is not needed and may
 * have expired: authorities also send roots that an older root has signed.
 */
function findPath(leaf: X509Certificate, others: readonly X509Certificate[]): readonly X509Certificate[] {
  const path = [leaf]
  for (;;) {
    const current = path.at(-1) as X509Certificate
    const issuers = others.filter((one) => !path.includes(one) && current.checkIssued(one))
    if (isSelfIssued(current) || issuers.length === 0) break
    // An authority may appear with two certificates: clients find the valid one.
    path.push(issuers.reduce((one, other) => (readEnd(other) > readEnd(one) ? other : one)))
  }
  const isNarrower = path.some((one) => readEnd(one) < readEnd(leaf) || readBegin(one) > readBegin(leaf))
  // The roots are read only where the dates of other certificates count.
  const roots = isNarrower ? rootCertificates.map((pem) => new X509Certificate(pem)) : []
  const end = path.findIndex((one, at) => at > 0 && (isSelfIssued(one) || roots.some((root) => isAnother(root, one))))
  return end < 0 ? path : path.slice(0, end)
}

function isAnother(one: X509Certificate, other: X509Certificate): boolean {
  return one.subject === other.subject && one.publicKey.equals(other.publicKey)
}

function orderFault(leaf: X509Certificate, second: X509Certificate | undefined): string | undefined {
  if (second === undefined || isSelfIssued(leaf) || leaf.checkIssued(second)) return undefined
  const issuer = leaf.issuer === second.subject ? 'a CA of this name with another key' : readName(leaf.issuer)
  return `has ${readName(second.subject)} as its second certificate, but the first was issued by ${issuer}`
}

/** Uses of a certificate (RFC 5280 4.2.1.12) that permit serving: servers, and any use. */
const SERVER_USES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']

/** Describes a certificate that is not for servers. A certificate without named uses serves all of them. */
function usageFault({ keyUsage: uses }: X509Certificate): string | undefined {
  if (uses === undefined || uses.some((use) => SERVER_USES.includes(use))) return undefined
  return 'is not a server certificate: its extended key usage lacks serverAuth'
}

function isSelfIssued({ subject, issuer }: X509Certificate): boolean {
  return subject === issuer
}

const readBegin = ({ validFrom }: X509Certificate): number => Date.parse(validFrom)
const readEnd = ({ validTo }: X509Certificate): number => Date.parse(validTo)

/** Finds the common name of a subject or an issuer, else joins all of it in one line. */
function readName(names = ''): string {
  const lines = names.split('\n')
  return lines.find((line) => line.startsWith('CN='))?.slice('CN='.length) ?? lines.join(', ')
}

/** Finds blocks that begin a line, as OpenSSL does; a block without an end extends to the end of the text. */
function splitBlocks(pem: string): readonly { readonly text: string; readonly isAlone: boolean }[] {
  const blocks = []
  let label: string | undefined
  let lines: string[] = []
  // Windows writes a byte order mark before UTF-8, which OpenSSL skips.
  for (const line of pem.replace(/^\ufeff/, '').split('\n')) {
    label ??= LABELS.find((one) => line.trimEnd() === `-----BEGIN ${one}-----`)
    if (label === undefined) continue
    lines.push(line)
    const end = `-----END ${label}-----`
    if (!line.startsWith(end)) continue
    blocks.push({ text: `${lines.join('\n')}\n`, isAlone: line.trimEnd() === end })
    label = undefined
    lines = []
  }
  return label === undefined ? blocks : [...blocks, { text: lines.join('\n'), isAlone: true }]
}
