export type TextTest = (text: string) => boolean

/** Returns the parts of a glob between its stars: `*` is any characters, `\*` a star, `\\` a backslash. */
export function splitGlob(glob: string): readonly string[] {
  const parts = ['']
  for (let at = 0; at < glob.length; at++) {
    const letter = glob.charAt(at)
    if (letter === '*') {
      parts.push('')
      continue
    }
    const next = glob.charAt(at + 1)
    const escapes = letter === '\\' && (next === '*' || next === '\\')
    if (escapes) at++
    parts[parts.length - 1] += escapes ? next : letter
  }
  return parts
}

/** Compiles a glob over whole texts. It makes one pass without a regular expression: no glob and no text can make it slow. */
export function compileGlob(glob: string): TextTest {
  const parts = splitGlob(glob)
  const first = parts[0] as string
  if (parts.length === 1) return (text) => text === first
  const last = parts[parts.length - 1] as string
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  const [inner = ''] = middle
  if (first === '' && last === '' && middle.length < 2) return (text) => text.includes(inner)
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let from = first.length
    // The leftmost place of each middle part leaves the most room for the rest, so no other place need be tried.
    for (const part of middle) {
      const at = text.indexOf(part, from)
      if (at === -1 || at + part.length > end) return false
      from = at + part.length
    }
    return true
  }
}
