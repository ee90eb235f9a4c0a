import { createHash } from 'node:crypto'
import { type HelloTransport, parseClientHello } from './client-hello.ts'

const LETTERS: Readonly<Record<HelloTransport, string>> = { tcp: 't', quic: 'q', dtls: 'd' }
const VERSIONS: ReadonlyMap<number, string> = new Map([
  [0x0304, '13'],
  [0x0303, '12'],
  [0x0302, '11'],
  [0x0301, '10'],
  [0x0300, 's3'],
  [0x0002, 's2'],
  [0xfeff, 'd1'],
  [0xfefd, 'd2'],
  [0xfefc, 'd3'],
])
const SERVER_NAME = 0
const ALPN = 16
const NOTHING = '000000000000'

/**
 * Computes the JA4 of a client (FoxIO's TLS client fingerprint, BSD licence) from its whole ClientHello message with the handshake header:
 * `t13d1516h2_8daaf6152771_02713d6af862`. Returns `undefined` for any message that is not a ClientHello.
 */
export function computeJa4(message: Uint8Array, transport: HelloTransport = 'tcp'): string | undefined {
  const hello = parseClientHello(message, transport)
  if (hello === undefined) return undefined
  const { version, ciphers, extensions, signatureAlgorithms, protocol } = hello
  const shape = [
    LETTERS[transport],
    VERSIONS.get(version) ?? '00',
    extensions.includes(SERVER_NAME) ? 'd' : 'i',
    twoDigits(ciphers.length),
    twoDigits(extensions.length),
    protocolLetters(protocol),
  ].join('')
  // These two extensions are in the shape already.
  const others = extensions.filter((type) => type !== SERVER_NAME && type !== ALPN)
  const algorithms = signatureAlgorithms.length === 0 ? '' : `_${hexList(signatureAlgorithms)}`
  const extensionHash = others.length === 0 ? NOTHING : hash(hexList(others.toSorted(ascending)) + algorithms)
  return `${shape}_${ciphers.length === 0 ? NOTHING : hash(hexList(ciphers.toSorted(ascending)))}_${extensionHash}`
}

/** Returns the first and last character of the first protocol; where one of them is no letter or digit, of its hexadecimal form. */
function protocolLetters(protocol: Uint8Array | undefined): string {
  if (protocol === undefined) return '00'
  const text = Buffer.from(protocol).toString('latin1')
  const shown = /^[0-9A-Za-z](?:.*[0-9A-Za-z])?$/s.test(text) ? text : Buffer.from(protocol).toString('hex')
  return `${shown[0]}${shown.at(-1)}`
}

function twoDigits(count: number): string {
  return String(Math.min(count, 99)).padStart(2, '0')
}

function hexList(values: readonly number[]): string {
  return values.map((value) => value.toString(16).padStart(4, '0')).join(',')
}

function ascending(one: number, other: number): number {
  return one - other
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
