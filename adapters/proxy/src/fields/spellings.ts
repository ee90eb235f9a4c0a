/**
 * Finds names among fields however they are spelled: `read(field)` is the name that a server may read the field's as
 * (`foldedName` of both is the same), or undefined. It runs for each field of each request and makes no string.
 */
export function createSpellings(names: Iterable<string>): (field: string) => string | undefined {
  const byLength: { readonly name: string; readonly ends: number }[][] = []
  for (const name of names) {
    while (byLength.length <= name.length) byLength.push([])
    byLength[name.length]?.push({ name, ends: endsOf(name) })
  }
  return (field) => {
    const alike = byLength[field.length]
    if (alike === undefined || alike.length === 0) return undefined
    const ends = endsOf(field)
    for (let at = 0; at < alike.length; at++) {
      const known = alike[at] as { readonly name: string; readonly ends: number }
      // Few names are alike in length and at both ends, which are letters and digits.
      if (known.ends === ends && isSpelling(field, known.name)) return known.name
    }
    return undefined
  }
}

/** The first and the last character, of a letter in either case. */
function endsOf(name: string): number {
  return ((name.charCodeAt(0) | 0x20) << 8) | (name.charCodeAt(name.length - 1) | 0x20)
}

function isSpelling(field: string, name: string): boolean {
  for (let at = 0; at < name.length; at += 1) if (folded(field.charCodeAt(at)) !== name.charCodeAt(at)) return false
  return true
}

/** A letter in lower case, a digit, or the hyphen that every other character counts as. */
function folded(code: number): number {
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) return code
  return code >= 65 && code <= 90 ? code | 32 : 45
}
