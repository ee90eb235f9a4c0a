/** A text as 32 bits (FNV-1a); nothing is secret in it. */
export function hashText(text: string): number {
  let bits = 0x811c9dc5
  for (let at = 0; at < text.length; at++) bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193)
  return bits
}
