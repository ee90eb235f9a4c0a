/** Writes a command that requests some paths with some fields, without the fields that curl sends itself. */
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
  return ['curl', ...parts, findTarget(host, paths)].join(' ')
}

/** Writes several paths as one word, which curl takes apart. */
function findTarget(host: string, [first, ...more]: readonly [string, ...string[]]): string {
  if (more.length === 0) return quote(host + first)
  return quote(`${host}/{${[first, ...more].map((path) => path.slice(1)).join(',')}}`)
}

function capitalise(name: string): string {
  return name.replace(/(?<![A-Za-z])[a-z]/g, (letter) => letter.toUpperCase())
}

function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
