import { X509Certificate } from 'node:crypto'
import { SallyportError } from '@sallyport/core'

/** Says which file of a pair prevents serving the pair. */
export class PairFault extends SallyportError {
  readonly of: 'cert' | 'key'
  constructor(of: 'cert' | 'key', reason: string) {
    super('invalid_config', `tls: ${reason}`)
    this.of = of
  }
}

/**
 * Matches blocks that begin a line, with the labels that OpenSSL reads as certificates, and the text after the end marker. A block without
 * an end extends to the end of the text.
 */
const BLOCKS =
  /^-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^\S\n]*\n[\s\S]*?(?:^-----END \1-----(.*)|(?![\s\S]))/gm

/** Reads the certificates of a text in PEM, in their order. Throws a fault that names the certificate that cannot be read. */
export function readChain(file: string, pem: string): readonly X509Certificate[] {
  // Windows writes a byte order mark before UTF-8, which OpenSSL skips.
  const blocks = [...pem.replace(/^\ufeff/, '').matchAll(BLOCKS)]
  if (blocks.length === 0) throw new PairFault('cert', `${file} is not a certificate in PEM`)
  return blocks.map(([text, , rest = ''], at) => {
    const which = `certificate ${at + 1} of ${file}`
    if (rest.trim() !== '') {
      throw new PairFault('cert', `${which} has text after its end marker. Start the next certificate on a new line`)
    }
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

/** Describes a second certificate that did not issue the server's, which comes first. */
export function orderFault([leaf, ...others]: readonly X509Certificate[]): string | undefined {
  const second = others.find(({ fingerprint256 }) => fingerprint256 !== leaf?.fingerprint256)
  if (leaf === undefined || second === undefined || leaf.subject === leaf.issuer || leaf.checkIssued(second)) return
  const issuer = leaf.issuer === second.subject ? 'a CA of this name with another key' : readName(leaf.issuer)
  return `has ${readName(second.subject)} as its second certificate, but the first was issued by ${issuer}`
}

/** Uses of a certificate (RFC 5280 4.2.1.12) that permit serving: servers, and any use. */
const SERVER_USES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']

/** Describes a certificate that is not for servers. A certificate without named uses serves all of them. */
export function usageFault({ keyUsage: uses }: X509Certificate): string | undefined {
  if (uses === undefined || uses.some((use) => SERVER_USES.includes(use))) return undefined
  return 'is not a server certificate: its extended key usage lacks serverAuth'
}

/** Finds the common name of a subject or an issuer, else joins all of it in one line. */
function readName(names = ''): string {
  const lines = names.split('\n')
  return lines.find((line) => line.startsWith('CN='))?.slice('CN='.length) ?? lines.join(', ')
}
