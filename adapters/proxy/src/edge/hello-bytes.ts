import type { Reader } from './first-bytes.ts'

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const RECORD_HEADER = 5
/** A handshake message begins with its type and its length. */
const MESSAGE_HEADER = 4
const MAX_RECORD = 16_384
/** Least bytes of a record, but for the last record of a hello, which has the rest. */
const MIN_RECORD = 16
const MAX_RECORDS = 64
/** Limits a hello, in bytes; a browser sends 600 to 2,000. */
const MAX_HELLO = 16_384

/**
 * Reads the ClientHello at the beginning of a connection: a whole handshake message, from as many records as it spans (RFC 8446 5.1). It
 * uses up no bytes.
 */
export const readHello: Reader<Uint8Array> = (bytes) => {
  requireRecord(bytes, 0)
  if (bytes.length > RECORD_HEADER && bytes[RECORD_HEADER] !== CLIENT_HELLO) throw new Error('not a hello')
  // A wrong byte is refused as soon as it comes.
  if (bytes.length < RECORD_HEADER + MESSAGE_HEADER) return bytes.length + 1
  const whole = MESSAGE_HEADER + bytes.readUIntBE(RECORD_HEADER + 1, 3)
  if (whole > MAX_HELLO) throw new Error('too large')

  const parts: Buffer[] = []
  let left = whole
  for (let at = 0; ; ) {
    if (bytes.length < at + RECORD_HEADER) return at + RECORD_HEADER
    requireRecord(bytes, at)
    const size = bytes.readUInt16BE(at + 3)
    at += RECORD_HEADER
    if (size > MAX_RECORD) throw new Error('a record that is too large')
    if (size >= left) {
      if (bytes.length < at + left) return at + left
      parts.push(bytes.subarray(at, at + left))
      return { value: Buffer.concat(parts), used: 0 }
    }
    if (size < MIN_RECORD) throw new Error('a record that is too small')
    if (parts.length + 1 === MAX_RECORDS) throw new Error('too many records')
    parts.push(bytes.subarray(at, at + size))
    left -= size
    at += size
  }
}

/** Throws where the available bytes from `at` are no record of a handshake. */
function requireRecord(bytes: Buffer, at: number): void {
  if (bytes.length > at && bytes[at] !== HANDSHAKE) throw new Error('not a handshake')
  if (bytes.length > at + 1 && bytes[at + 1] !== 3) throw new Error('not a version of TLS')
}
