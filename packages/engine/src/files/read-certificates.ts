import { X509Certificate } from 'node:crypto'
import { readText } from './read-whole.ts'

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

/**
 * The text of a file of authorities in PEM, of which every one can be read: OpenSSL leaves out what it cannot read, and then
 * trusts nobody. Throws an error in words that follow the file's name.
 */
export function readCertificates(file: string): string {
  const pem = readText(file)
  const [, ...blocks] = pem.split(BEGIN)
  if (blocks.length === 0) throw new Error('contains no certificate in PEM')
  for (const [at, block] of blocks.entries()) {
    const end = block.indexOf(END)
    const which = blocks.length === 1 ? 'its certificate' : `its certificate ${at + 1} of ${blocks.length}`
    if (end < 0) throw new Error(`is truncated: ${which} has no end`)
    if (!isCertificate(`${BEGIN}${block.slice(0, end)}${END}\n`)) throw new Error(`is damaged: ${which} cannot be read`)
  }
  return pem
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
