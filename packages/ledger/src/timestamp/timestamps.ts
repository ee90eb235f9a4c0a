import type { Certificate, SignedData, TimeStampResp, TSTInfo } from 'pkijs'
import { sha256 } from '../verify/hash.ts'
import type { TimestampFinding } from '../verify/time.ts'

/** The packages that read ASN.1 are not installed: `npm install pkijs asn1js`. */
export class LibraryMissing extends Error {
  override readonly name = 'LibraryMissing'
}

/** Makes requests for timestamps and checks answers. */
export type Timestamps = Awaited<ReturnType<typeof openTimestamps>>

/** The packages that read ASN.1. */
type Library = Awaited<ReturnType<typeof loadLibrary>>

const MAX_RESPONSE_BYTES = 64 * 1024
const SIGNED_DATA = '1.2.840.113549.1.7.2'
const TST_INFO = '1.2.840.113549.1.9.16.1.4'
const SHA256 = '2.16.840.1.101.3.4.2.1'
const DIGESTS: Readonly<Record<string, string>> = {
  [SHA256]: 'SHA-256',
  '2.16.840.1.101.3.4.2.2': 'SHA-384',
  '2.16.840.1.101.3.4.2.3': 'SHA-512',
}

/**
 * Opens the reader of timestamps. `authorities` are the certificates (PEM) that the caller trusts; without them a good
 * timestamp is one that nobody vouches for. Rejects with LibraryMissing, and with an Error for a text that holds no certificate.
 */
export async function openTimestamps(authorities?: string) {
  const library = await loadLibrary()
  const trusted = authorities === undefined ? undefined : readCertificates(authorities, library)
  return {
    /** Makes a request for a timestamp of these bytes (RFC 3161 2.4.1). `random` are eight bytes that nobody can guess. */
    query: (data: Uint8Array, random: Uint8Array) => createQuery(data, random, library),
    /**
     * Checks an answer (TimeStampResp, DER) about these bytes: status, imprint, nonce where one is given, signature, purpose of
     * the certificate, and its chain to an authority. Never rejects for a bad answer.
     */
    async read(response: Uint8Array, data: Uint8Array, nonce?: Uint8Array): Promise<TimestampFinding> {
      try {
        return await readResponse(response, data, nonce, trusted, library)
      } catch {
        // The library throws errors of many kinds at bytes that are not of the form.
        return { state: 'bad', reason: 'it cannot be read' }
      }
    },
  }
}

async function loadLibrary() {
  try {
    const [pki, asn1] = await Promise.all([import('pkijs'), import('asn1js')])
    return { pki, asn1 }
  } catch {
    throw new LibraryMissing('Timestamps need the packages pkijs and asn1js: npm install pkijs asn1js')
  }
}

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/** Reads the certificates of a text in PEM. Throws where it holds none, or one that cannot be read. */
function readCertificates(pem: string, { pki }: Library): readonly Certificate[] {
  const found = [...pem.matchAll(PEM)].map(([, text = '']) => {
    try {
      return pki.Certificate.fromBER(toBuffer(Buffer.from(text, 'base64')))
    } catch {
      throw new Error('holds a certificate that cannot be read')
    }
  })
  if (found.length === 0) throw new Error('contains no certificate in PEM')
  return found
}

/** Makes a request, DER, with its nonce, which the answer must repeat. */
function createQuery(data: Uint8Array, random: Uint8Array, { pki, asn1 }: Library) {
  // A first byte of 1 to 127 is a positive integer in its shortest form.
  const nonce = Uint8Array.from(random)
  nonce[0] = 0x40 | ((nonce[0] ?? 0) & 0x3f)
  const request = new pki.TimeStampReq({
    version: 1,
    messageImprint: new pki.MessageImprint({
      hashAlgorithm: new pki.AlgorithmIdentifier({ algorithmId: SHA256, algorithmParams: new asn1.Null() }),
      hashedMessage: new asn1.OctetString({ valueHex: toBuffer(sha256(data)) }),
    }),
    nonce: new asn1.Integer({ valueHex: toBuffer(nonce) }),
    certReq: true,
  })
  return { bytes: new Uint8Array(request.toSchema().toBER(false)), nonce }
}

async function readResponse(
  bytes: Uint8Array,
  data: Uint8Array,
  nonce: Uint8Array | undefined,
  trusted: readonly Certificate[] | undefined,
  library: Library,
): Promise<TimestampFinding> {
  if (bytes.length > MAX_RESPONSE_BYTES) return bad(`it is longer than ${MAX_RESPONSE_BYTES} bytes`)
  const response = library.pki.TimeStampResp.fromBER(toBuffer(bytes))
  const { status } = response.status
  if (status !== 0 && status !== 1) return bad(`the authority refused with status ${status}`)
  const signed = readToken(response, library)
  const info = library.pki.TSTInfo.fromBER(signed.encapContentInfo.eContent?.getValue() ?? new ArrayBuffer(0))
  const fault = findInfoFault(info, data, nonce) ?? findFormFault(signed)
  if (fault !== undefined) return bad(fault)
  const certificate = await findSigner(signed, data)
  if (certificate === undefined) return bad('its signature is not valid')
  const { genTime } = info
  const purpose = findPurposeFault(certificate, genTime) ?? (await findBindingFault(signed, certificate, library))
  if (purpose !== undefined) return bad(purpose)
  const found = { time: upperBound(info), signer: nameSigner(certificate) }
  if (trusted === undefined) return { state: 'unknown', ...found }
  const isTrusted = await isChained(certificate, signed, trusted, genTime, library)
  return { state: isTrusted ? 'good' : 'untrusted', ...found }
}

function bad(reason: string): TimestampFinding {
  return { state: 'bad', reason }
}

function readToken({ timeStampToken }: TimeStampResp, { pki }: Library): SignedData {
  if (timeStampToken?.contentType !== SIGNED_DATA) throw new Error('not signed data')
  const signed = new pki.SignedData({ schema: timeStampToken.content })
  if (signed.encapContentInfo.eContentType !== TST_INFO) throw new Error('not a timestamp')
  return signed
}

function findInfoFault(info: TSTInfo, data: Uint8Array, nonce: Uint8Array | undefined): string | undefined {
  const { hashAlgorithm, hashedMessage } = info.messageImprint
  const imprint = new Uint8Array(hashedMessage.valueBlock.valueHexView)
  if (hashAlgorithm.algorithmId !== SHA256 || Buffer.compare(imprint, sha256(data)) !== 0) {
    return 'it is of other bytes than this checkpoint'
  }
  const echo = info.nonce?.valueBlock.valueHexView
  if (nonce !== undefined && (echo === undefined || Buffer.compare(echo, nonce) !== 0)) {
    return 'it does not repeat the nonce of the request'
  }
  return info.extensions?.some(({ critical }) => critical) ? 'it has a critical extension that is not known' : undefined
}

/** RFC 3161 2.4.2: one signer, whose signed attributes hold the digest of the content. */
function findFormFault({ signerInfos: [signer, ...others] }: SignedData): string | undefined {
  if (signer === undefined || others.length > 0) return 'it has not exactly one signature'
  const digest = DIGESTS[signer.digestAlgorithm.algorithmId]
  if (digest === undefined) return 'it is signed by an algorithm that is not taken'
  return signer.signedAttrs === undefined ? 'it signs no attributes' : undefined
}

/** Finds the certificate whose key signed; `undefined` where the signature is not valid. */
async function findSigner(signed: SignedData, data: Uint8Array): Promise<Certificate | undefined> {
  try {
    const found = await signed.verify({ signer: 0, data: toBuffer(data), extendedMode: true })
    return found.signatureVerified === true ? (found.signerCertificate ?? undefined) : undefined
  } catch {
    return undefined
  }
}

const EXTENDED_KEY_USAGE = '2.5.29.37'
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8'

/** RFC 3161 2.3: the certificate is for timestamps alone, and says so in a critical extension. */
function findPurposeFault({ extensions = [], notBefore, notAfter }: Certificate, at: Date): string | undefined {
  if (at < notBefore.value) return `its certificate is not valid before ${notBefore.value.toISOString()}`
  if (at > notAfter.value) return `its certificate had expired on ${notAfter.value.toISOString()}`
  const usage = extensions.find(({ extnID }) => extnID === EXTENDED_KEY_USAGE)
  const purposes = (usage?.parsedValue as { readonly keyPurposes?: readonly string[] } | undefined)?.keyPurposes ?? []
  const isForTime = usage?.critical === true && purposes.length === 1 && purposes[0] === TIME_STAMPING
  return isForTime ? undefined : 'its certificate is not one for timestamps (critical EKU timeStamping)'
}

const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12'
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47'

/** RFC 5816: the signed attributes name the certificate by its hash, so that no other one of the same key takes its place. */
async function findBindingFault(
  { signerInfos: [signer] }: SignedData,
  certificate: Certificate,
  { pki, asn1 }: Library,
): Promise<string | undefined> {
  const attributes = signer?.signedAttrs?.attributes ?? []
  const v2 = attributes.find(({ type }) => type === SIGNING_CERTIFICATE_V2)
  const [value] = (v2 ?? attributes.find(({ type }) => type === SIGNING_CERTIFICATE))?.values ?? []
  const [certificates] = readChildren(value)
  const [first, second] = readChildren(readChildren(certificates)[0])
  const algorithm = first instanceof asn1.Sequence ? new pki.AlgorithmIdentifier({ schema: first }).algorithmId : SHA256
  const digest = v2 === undefined ? 'SHA-1' : DIGESTS[algorithm]
  const named = first instanceof asn1.Sequence ? second : first
  if (!(named instanceof asn1.OctetString) || digest === undefined) return 'it does not name its certificate'
  const found = await crypto.subtle.digest(digest, certificate.toSchema().toBER(false))
  const isSame = Buffer.compare(new Uint8Array(found), named.valueBlock.valueHexView) === 0
  return isSame ? undefined : 'it names another certificate than the one that signed'
}

function readChildren(node: unknown): readonly unknown[] {
  const { valueBlock } = (node ?? {}) as { readonly valueBlock?: { readonly value?: readonly unknown[] } }
  return valueBlock?.value ?? []
}

async function isChained(
  certificate: Certificate,
  { certificates = [] }: SignedData,
  trusted: readonly Certificate[],
  at: Date,
  { pki }: Library,
): Promise<boolean> {
  const isCertificate = (entry: unknown): entry is Certificate => entry instanceof pki.Certificate
  const between = certificates.filter(isCertificate).filter((entry) => entry !== certificate)
  // The engine takes the last one for the certificate whose chain is looked for.
  const engine = new pki.CertificateChainValidationEngine({
    certs: [...between, certificate],
    trustedCerts: [...trusted],
    checkDate: at,
  })
  return (await engine.verify()).result
}

/** Returns the latest moment that the timestamp allows: its time and the accuracy that it claims, ISO 8601. */
function upperBound({ genTime, accuracy }: TSTInfo): string {
  const { seconds = 0, millis = 0, micros = 0 } = accuracy ?? {}
  return new Date(genTime.getTime() + seconds * 1_000 + millis + Math.ceil(micros / 1_000)).toISOString()
}

function nameSigner({ subject }: Certificate): string {
  const parts = subject.typesAndValues.map(({ type, value }) => ({ type, text: String(value.valueBlock.value) }))
  return (parts.find(({ type }) => type === '2.5.4.3')?.text ?? parts.map(({ text }) => text).join(', ')) || 'no name'
}

function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}
