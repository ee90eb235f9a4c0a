/**
 * Finds names among fields however they are spelled: `read(field)` is the name that a server may read the field's as
 * (`foldedName` of both is the same), or undefined. It runs for each field of each request and makes no string.
 */
export function createSpellings(names: Iterable<string>): (field: string) => string | undefined {
  const byLength: string[][] = []
  for (const name of names) {
    while (byLength.length <= name.length) byLength.push([])
    byLength[name.length]?.push(name)
  }
  return (field) => {
    const alike = byLength[field.length]
    if (alike === undefined) return undefined
    for (const name of alike) if (isSpelling(field, name)) return name
    return undefined
  }
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
