import { X509Certificate } from 'node:crypto'

/** Dates and faults of a chain. The dates are those of its first certificate, which is the server's. */
export interface Chain {
  /** Milliseconds since the epoch, as is the next. */
  readonly notBefore: number
  readonly notAfter: number
  /** Milliseconds that it was issued for. */
  readonly life: number
  /** Faults for which some clients refuse it, in words that follow the name of its file. */
  readonly faults: readonly string[]
}

/** A certificate in PEM by a label that OpenSSL takes; one without an end goes to the end of the text. */
const BLOCK = /^-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[\s\S]*?(?:^-----END \1-----|$(?![\s\S]))/gm

/** The certificates of a text in PEM, in their order. Throws an error that names the one that cannot be read. */
export function readChain(file: string, pem: string): readonly X509Certificate[] {
  // Windows writes a mark before UTF-8, which OpenSSL passes over.
  const blocks = pem.replace(/^\ufeff/, '').match(BLOCK) ?? []
  if (blocks.length === 0) throw new Error(`${file} is not a certificate in PEM`)
  return blocks.map((text, at) => {
    try {
      return new X509Certificate(text)
    } catch {
      throw new Error(
        blocks.length === 1
          ? `${file} is not a certificate in PEM`
          : `certificate ${at + 1} of ${file} is cut off, or no certificate`,
      )
    }
  })
}

/** Reads the dates of the server's certificate, and whether the next one has issued it. */
export function examineChain([leaf, second]: readonly [X509Certificate, ...X509Certificate[]]): Chain {
  const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
  const fault = orderFault(leaf, second)
  return { notBefore, notAfter, life: notAfter - notBefore, faults: fault === undefined ? [] : [fault] }
}

/** A chain without the issuer of its first certificate is refused by clients that do not know that one. */
function orderFault(leaf: X509Certificate, second: X509Certificate | undefined): string | undefined {
  const isWhole = second === undefined || leaf.subject === leaf.issuer || leaf.checkIssued(second)
  if (isWhole || second.fingerprint256 === leaf.fingerprint256) return undefined
  const issuer = leaf.issuer === second.subject ? 'one with another key' : commonName(leaf.issuer)
  return `has ${commonName(second.subject)} as its second certificate, which did not issue the first: ${issuer} did`
}

/** The common name of a subject or an issuer, else all of it in one line. */
function commonName(names: string): string {
  const lines = names.split('\n')
  return lines.find((line) => line.startsWith('CN='))?.slice('CN='.length) ?? lines.join(', ')
}
