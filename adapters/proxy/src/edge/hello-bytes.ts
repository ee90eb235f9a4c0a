import type { Reader } from './peek.ts'

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const RECORD_HEADER = 5
const MAX_RECORD = 16_384
/** Of a hello; that of a browser has 600 to 2,000 bytes. */
const MAX_HELLO = 16_384

/**
 * The ClientHello at the beginning of a connection: a whole handshake message, from as many records as it lies in (RFC
 * 8446 5.1). Nothing is used up.
 */
export const readHello: Reader<Uint8Array> = (bytes) => {
  const parts: Buffer[] = []
  let length = 0
  for (let at = 0; ; ) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE) throw new Error('not a handshake')
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) throw new Error('not a version of TLS')
    if (bytes.length < at + RECORD_HEADER) return undefined
    const size = bytes.readUInt16BE(at + 3)
    if (size === 0 || size > MAX_RECORD) throw new Error('a record of a wrong size')
    const part = bytes.subarray(at + RECORD_HEADER, at + RECORD_HEADER + size)
    parts.push(part)
    length += part.length
    const message = Buffer.concat(parts)
    if (length > 0 && message[0] !== CLIENT_HELLO) throw new Error('not a hello')
    const whole = length < 4 ? undefined : 4 + message.readUIntBE(1, 3)
    if (whole !== undefined && whole > MAX_HELLO) throw new Error('too large')
    if (whole !== undefined && length >= whole) return { value: message.subarray(0, whole), used: 0 }
    if (part.length < size) return undefined
    at += RECORD_HEADER + size
  }
}
