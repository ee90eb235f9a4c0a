/** A terminal has so many columns by default. */
const COLUMNS = 78
const NEXT_LINE = ' \\\n  '

/**
 * Writes a command that requests some paths with some fields, without the fields that curl sends itself. A long command continues on the
 * next line.
 */
export function toCurl(
  host: string,
  paths: readonly [string, ...string[]],
  fields: readonly string[],
  body?: string,
): string {
  const parts: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name = '', value = ''] = fields.slice(at, at + 2)
    if (name === 'Host' || (name === 'Accept' && value === '*/*')) continue
    if (name === 'User-Agent' && value.startsWith('curl/')) continue
    parts.push(name === 'User-Agent' ? `-A ${quote(value)}` : `-H ${quote(`${capitalise(name)}: ${value}`)}`)
  }
  if (body !== undefined) parts.push(`-d ${quote(body)}`)
  return wrapWords(['curl', ...parts, findTarget(host, paths)])
}

/** Writes several paths as one word, which curl takes apart. */
function findTarget(host: string, [first, ...more]: readonly [string, ...string[]]): string {
  if (more.length === 0) return quote(host + first)
  return quote(`${host}/{${[first, ...more].map((path) => path.slice(1)).join(',')}}`)
}

function wrapWords(words: readonly string[]): string {
  const lines: string[] = []
  for (const word of words) {
    const line = lines.at(-1)
    // The backslash at the end needs room.
    if (line === undefined || line.length + word.length + 3 > COLUMNS - (lines.length > 1 ? 2 : 0)) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join(NEXT_LINE)
}

/** Capitalises a field name, which HTTP ignores but people read sooner. */
function capitalise(name: string): string {
  return name.replace(/(?<![A-Za-z])[a-z]/g, (letter) => letter.toUpperCase())
}

function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
