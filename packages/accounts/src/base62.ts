const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const STEP_DIGITS = 8
const STEP = 62n ** BigInt(STEP_DIGITS)

/** Base62 text of the bytes read as one big-endian number, left-padded with `0` to `length`, cut to its last digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  while (text.length < length) {
    // Several digits a step: division of a number of any size is the slow part.
    let digits = Number(value % STEP)
    value /= STEP
    for (let digit = 0; digit < STEP_DIGITS && text.length < length; digit++) {
      text = DIGITS.charAt(digits % 62) + text
      digits = Math.floor(digits / 62)
    }
  }
  return text
}
