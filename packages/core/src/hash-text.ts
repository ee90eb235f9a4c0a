/** Hashes a text to 32 bits (FNV-1a); it continues from the hash of a text before, or from a secret. */
export function hashText(text: string, before = NO_HASH): number {
  let bits = before
  for (let at = 0; at < text.length; at++) bits = addToHash(bits, text.charCodeAt(at))
  return bits
}

/** An empty text has this hash. */
export const NO_HASH = 0x811c9dc5

export function addToHash(bits: number, code: number): number {
  return Math.imul(bits ^ code, 0x01000193)
}
