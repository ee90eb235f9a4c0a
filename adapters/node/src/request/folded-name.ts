/**
 * Folds a field name as servers that make variables of fields read it (RFC 3875 4.1.18): one case, and one character for all but letters
 * and digits. lighttpd reads `X!Forwarded!For` as HTTP_X_FORWARDED_FOR, and the later field wins.
 */
export function foldedName(name: string): string {
  const lower = name.toLowerCase()
  return PLAIN.test(lower) ? lower : lower.replace(/[^a-z0-9]/g, '-')
}

const PLAIN = /^[a-z0-9-]*$/
