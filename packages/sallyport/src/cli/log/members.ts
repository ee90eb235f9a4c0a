import { isRecord } from '@sallyport/core'

export type Members = Readonly<Record<string, unknown>>

/** Parses a line of JSON to an object; `undefined` for any other text. */
export function parseRecord(line: string): Members | undefined {
  if (!line.startsWith('{')) return undefined
  // nginx without `escape=json` writes `\x22`, which is not JSON.
  return parseMembers(line) ?? parseMembers(line.replace(/\\x([\da-f]{2})/gi, '\\u00$1'))
}

function parseMembers(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function findText(members: Members | undefined, ...names: readonly string[]): string | undefined {
  return names.map((name) => members?.[name]).find((value) => typeof value === 'string')
}

/** Limits the depth of nested objects; deeper members do not describe the request. */
const MAX_DEPTH = 4

/** Finds members by their paths, in any spelling of a name. The first entry of a list counts, and a value replaces a null. */
export function flatten(members: Members): (path: string) => unknown {
  const flat = new Map<string, unknown>()
  const add = (within: Members, path: string, depth: number): void => {
    for (const [name, given] of Object.entries(within)) {
      const key = path + foldName(name)
      const value: unknown = Array.isArray(given) ? given[0] : given
      if ((flat.get(key) ?? null) === null) flat.set(key, value)
      if (depth < MAX_DEPTH && isRecord(value)) add(value, `${key}.`, depth + 1)
    }
  }
  add(members, '', 1)
  return (path) => flat.get(foldName(path))
}

function foldName(path: string): string {
  return path.toLowerCase().replace(/[_@-]/g, '')
}
