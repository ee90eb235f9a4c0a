/** An object of a line of JSON; `undefined` for any other text. */
export function recordIn(line: string): Members | undefined {
  if (!line.startsWith('{')) return undefined
  return parsed(line) ?? parsed(line.replace(/\\x([\da-f]{2})/gi, '\\u00$1'))
}

export type Members = Readonly<Record<string, unknown>>

/** A text of nginx has `\x22` without `escape=json`, which is no JSON. */
function parsed(text: string): Members | undefined {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

/** A member of an object's own. */
export function memberOf(members: Members | undefined, name: string): unknown {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined
}

/** The first of these members that is a text. */
export function textOf(members: Members | undefined, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = memberOf(members, name)
    if (typeof value === 'string') return value
  }
  return undefined
}

/** A text of a client's as it is kept: `null` says that it sent none. */
export function sentText(value: unknown): string | undefined {
  if (value === null) return ''
  return typeof value === 'string' ? value : undefined
}

/** In objects within objects; what is deeper is not about the request. */
const MAX_DEPTH = 4

/** A value that is no object. */
export type Plain = string | number | null

/** A path of members as `flatOf` writes it: in lower case, and without `_`, `-` and `@`. */
export function flatKey(path: string): string {
  return path.toLowerCase().replace(/[_@-]/g, '')
}

/** Texts, numbers and nulls of an object by their paths. */
export function flatOf(members: Members): ReadonlyMap<string, Plain> {
  const flat = new Map<string, Plain>()
  const add = (within: Members, path: string, depth: number): void => {
    for (const [name, given] of Object.entries(within)) {
      const key = path + flatKey(name)
      const value: unknown = Array.isArray(given) ? given[0] : given
      if (typeof value === 'string' || typeof value === 'number' || value === null) {
        if ((flat.get(key) ?? null) === null) flat.set(key, value)
        continue
      }
      const inner = depth < MAX_DEPTH ? membersOf(value) : undefined
      if (inner !== undefined) add(inner, `${key}.`, depth + 1)
    }
  }
  add(members, '', 1)
  return flat
}
