import { isBlank, isNamed } from '../address/forwarding.ts'

const SEMICOLON = 59
const EQUALS = 61

/**
 * Returns the values of cookies by name, those of the first name first (RFC 6265 section 5.4), from any number of fields: HTTP/2 has a
 * field for each cookie, and a neighbour of the domain can set many of another name. Where `isSecure`, only the first name counts, which no
 * neighbour can set.
 */
export function findCookies(
  fields: readonly string[],
  names: readonly string[],
  max: number,
  isSecure: () => boolean = () => false,
): readonly string[] {
  let lines: string[] | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, 'cookie')) continue
    const line = fields[at + 1] as string
    // Most requests have cookies, and none of ours.
    if (!line.includes('sallyport')) continue
    if (lines === undefined) lines = [line]
    else lines.push(line)
  }
  if (lines === undefined) return NONE
  const values: string[] = []
  for (const name of isSecure() ? names.slice(0, 1) : names) for (const line of lines) collect(line, name, values, max)
  return values
}

const NONE: readonly string[] = []

function collect(line: string, name: string, values: string[], max: number): void {
  for (let at = line.indexOf(name); at !== -1 && values.length < max; at = line.indexOf(name, at + name.length)) {
    const from = at + name.length
    // Joining a name and its sign for each request would take longer than all other work here.
    if (line.charCodeAt(from) !== EQUALS || !isFirst(line, at)) continue
    const end = line.indexOf(';', from)
    values.push(line.slice(from + 1, end === -1 ? undefined : end).trim())
  }
}

/** Reports whether a cookie begins there: only blanks stand between it and the one before. */
function isFirst(line: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && isBlank(line.charCodeAt(before))) before--
  return before < 0 || line.charCodeAt(before) === SEMICOLON
}
