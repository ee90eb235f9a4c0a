/** Columns of a terminal that nobody has made wider. */
const COLUMNS = 78
const NEXT_LINE = ' \\\n  '

/**
 * A command that asks for some paths with some fields; those that curl sends without being asked are left out. A long
 * one goes on in the next line.
 */
export function curlOf(host: string, paths: readonly [string, ...string[]], fields: readonly string[]): string {
  const parts: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name = '', value = ''] = fields.slice(at, at + 2)
    if (name === 'Host' || (name === 'Accept' && value === '*/*')) continue
    if (name === 'User-Agent' && value.startsWith('curl/')) continue
    parts.push(name === 'User-Agent' ? `-A ${quoted(value)}` : `-H ${quoted(`${titled(name)}: ${value}`)}`)
  }
  return wrapped(['curl', ...parts, targetOf(host, paths)])
}

/** Several paths as one word, which curl takes apart. */
function targetOf(host: string, [first, ...more]: readonly [string, ...string[]]): string {
  if (more.length === 0) return quoted(host + first)
  return quoted(`${host}/{${[first, ...more].map((path) => path.slice(1)).join(',')}}`)
}

function wrapped(words: readonly string[]): string {
  const lines: string[] = []
  for (const word of words) {
    const line = lines.at(-1)
    // Room for the stroke at the end.
    if (line === undefined || line.length + word.length + 3 > COLUMNS - (lines.length > 1 ? 2 : 0)) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join(NEXT_LINE)
}

/** A field of HTTP has no case; a person reads this one sooner. */
function titled(name: string): string {
  return name.replace(/(?<![A-Za-z])[a-z]/g, (letter) => letter.toUpperCase())
}

function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
