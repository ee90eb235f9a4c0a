/** Holds a client's offer as it opens TLS (RFC 8446 section 4.1.2), as far as a fingerprint uses it; GREASE is left out. */
export interface ClientHello {
  /** The highest version that the client offers, as on the wire. */
  readonly version: number
  readonly ciphers: readonly number[]
  /** Extension types keep the order of the hello. */
  readonly extensions: readonly number[]
  readonly signatureAlgorithms: readonly number[]
  /** The client prefers this application protocol, as bytes; absent where it offers none. */
  readonly protocol?: Uint8Array | undefined
}

/** Names the carrier of a hello: TCP, QUIC, or DTLS, whose hello has a longer header and a cookie. */
export type HelloTransport = 'tcp' | 'quic' | 'dtls'

const CLIENT_HELLO = 1
const EXTENSION = { signatureAlgorithms: 13, alpn: 16, supportedVersions: 43 } as const
/** A header has a type and a length; with DTLS also a sequence number and the place of a fragment. */
const HEADER_BYTES: Readonly<Record<HelloTransport, number>> = { tcp: 4, quic: 4, dtls: 12 }
const RANDOM_BYTES = 32

/** Reads a whole handshake message with its header; returns `undefined` for any message that is not a ClientHello. */
export function parseClientHello(message: Uint8Array, transport: HelloTransport = 'tcp'): ClientHello | undefined {
  const reader = new Reader(message)
  const type = reader.number(1)
  const length = reader.number(3)
  reader.bytes(HEADER_BYTES[transport] - 4)
  const body = reader.within(length)
  const legacyVersion = body.number(2)
  body.bytes(RANDOM_BYTES)
  body.bytes(body.number(1))
  if (transport === 'dtls') body.bytes(body.number(1))
  const ciphers = body.within(body.number(2)).numbers()
  body.bytes(body.number(1))

  const extensions: number[] = []
  const versions: number[] = []
  const signatureAlgorithms: number[] = []
  let protocol: Uint8Array | undefined
  const list = body.left === 0 ? body : body.within(body.number(2))
  while (list.left > 0) {
    const extension = list.number(2)
    const content = list.within(list.number(2))
    if (list.failed) break
    if (isGrease(extension)) continue
    extensions.push(extension)
    if (extension === EXTENSION.supportedVersions) versions.push(...content.within(content.number(1)).numbers())
    else if (extension === EXTENSION.signatureAlgorithms)
      signatureAlgorithms.push(...content.within(content.number(2)).numbers())
    else if (extension === EXTENSION.alpn) protocol ??= firstProtocol(content)
    if (content.failed) return undefined
  }
  if (type !== CLIENT_HELLO || reader.failed || body.failed || list.failed || ciphers.length === 0) return undefined
  const offered = versions.filter((version) => !isGrease(version))
  return {
    version: offered.length === 0 ? legacyVersion : highest(offered),
    ciphers: ciphers.filter((cipher) => !isGrease(cipher)),
    extensions,
    signatureAlgorithms: signatureAlgorithms.filter((algorithm) => !isGrease(algorithm)),
    protocol,
  }
}

function firstProtocol(content: Reader): Uint8Array | undefined {
  const list = content.within(content.number(2))
  const first = list.bytes(list.number(1))
  return first.length === 0 ? undefined : first
}

/** Newer versions of DTLS have lower numbers. */
function highest(versions: readonly number[]): number {
  return versions[0] !== undefined && versions[0] >= 0xfe00 ? Math.min(...versions) : Math.max(...versions)
}

/** Clients send these values so that servers tolerate unknown ones (RFC 8701): 0x0a0a, 0x1a1a … 0xfafa. */
function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff)
}

/** Reads numbers and bytes one after another. A read past the end sets `failed`, and missing bytes read as 0. */
class Reader {
  readonly #bytes: Uint8Array
  #at = 0
  failed = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  skip(length: number): void {
    if (length > this.left) this.failed = true
    this.#at += Math.min(length, this.left)
  }

  bytes(length: number): Uint8Array {
    const from = this.#at
    const there = length <= this.left
    this.skip(length)
    return there ? this.#bytes.subarray(from, this.#at) : new Uint8Array()
  }

  number(length: number): number {
    if (length > this.left) this.skip(length)
    let value = 0
    for (const end = Math.min(this.#at + length, this.#bytes.length); this.#at < end; this.#at++) {
      value = value * 256 + (this.#bytes[this.#at] as number)
    }
    return value
  }

  within(length: number): Reader {
    const inner = new Reader(this.bytes(length))
    inner.failed = this.failed
    return inner
  }

  /** Reads the remaining bytes as numbers of two bytes. */
  numbers(): number[] {
    const all: number[] = []
    while (this.left > 0) all.push(this.number(2))
    return all
  }
}
