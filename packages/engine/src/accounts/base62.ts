const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Writes a hexadecimal number in base62, left-padded with `0` to `length`, or cut to its last digits. */
export function base62(hex: string, length: number): string {
  let value = BigInt(`0x${hex}`)
  let text = ''
  for (; text.length < length; value /= 62n) text = DIGITS.charAt(Number(value % 62n)) + text
  return text
}
