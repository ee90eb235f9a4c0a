const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const STEP_DIGITS = 8
const STEP = 62n ** BigInt(STEP_DIGITS)

/** Base62 text of the bytes read as one big-endian number, left-padded with `0` to `length`, cut to its last digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  while (text.length < length) {
    // Several digits a step: division of a number of any size is the slow part.
    text = base62Digits(Number(value % STEP), Math.min(STEP_DIGITS, length - text.length)) + text
    value /= STEP
  }
  return text
}

/** The same of a number that is exact: its last `length` digits. */
export function base62Digits(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = DIGITS.charAt(rest % 62) + text
  return text
}
