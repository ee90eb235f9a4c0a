import { isNamed } from '../address/forwarding.ts'

const SEMICOLON = 59
const SPACE = 32
const TAB = 9

/** Returns the values of the cookies of some names, those of the first name first (RFC 6265 section 5.4). */
export function cookiesOf(fields: readonly string[], names: readonly string[], max: number): readonly string[] {
  let values: string[] | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, 'cookie')) continue
    const line = fields[at + 1] as string
    // Most requests have cookies, and none of ours.
    if (!line.includes('sallyport')) continue
    values ??= []
    for (const name of names) if (values.length < max) collect(line, name, values, max)
  }
  return values ?? NONE
}

const NONE: readonly string[] = []

/** Adds the values of the cookies of one name to others. */
function collect(line: string, name: string, values: string[], max: number): void {
  const start = `${name}=`
  for (let at = line.indexOf(start); at !== -1 && values.length < max; at = line.indexOf(start, at + start.length)) {
    if (!isFirst(line, at)) continue
    const end = line.indexOf(';', at)
    values.push(line.slice(at + start.length, end === -1 ? undefined : end).trim())
  }
}

/** Whether a cookie begins there: nothing but blanks is between it and the one before. */
function isFirst(line: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && isBlank(line.charCodeAt(before))) before--
  return before < 0 || line.charCodeAt(before) === SEMICOLON
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}
