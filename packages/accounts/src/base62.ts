const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Base62 text of the bytes read as one big-endian number, left-padded with `0` to `length`, cut to its last digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  while (text.length < length) {
    text = DIGITS.charAt(Number(value % 62n)) + text
    value /= 62n
  }
  return text
}
