import type { Certificate } from 'pkijs'

/** The packages that read ASN.1. */
export interface Library {
  readonly pki: typeof import('pkijs')
  readonly asn1: typeof import('asn1js')
}

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/** The certificates of a text in PEM. Throws where it holds none, or one that cannot be read. */
export function readCertificates(pem: string, { pki }: Library): readonly Certificate[] {
  const found = [...pem.matchAll(PEM)].map(([, text = '']) => {
    try {
      return pki.Certificate.fromBER(Uint8Array.from(Buffer.from(text, 'base64')).buffer)
    } catch {
      throw new Error('holds a certificate that cannot be read')
    }
  })
  if (found.length === 0) throw new Error('contains no certificate in PEM')
  return found
}
