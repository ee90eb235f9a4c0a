import { isNamed } from '@sallyport/core/host'

/** The fields that say how a request is read, and where it belongs; those of HTTP/2 among them. */
const NAMES = [
  ':authority',
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'trailer',
  'expect',
  'upgrade',
  'sec-websocket-version',
  'sec-websocket-key',
  'authorization',
  'content-type',
  'user-agent',
] as const

type Name = (typeof NAMES)[number]

/** Fields that a server may read differently from the next where it comes twice: one takes the first, one the last. */
const ONCE: ReadonlySet<string> = new Set<Name>([
  ...(['host', 'content-length', 'authorization', 'content-type', 'user-agent', 'expect'] as const),
])

/** The values of some fields; those of one name are a list (RFC 9110 5.3). */
export type HeadFields = Partial<Record<Name, string>> & {
  /** The first name that came twice and must not. */
  twice?: string | undefined
}

/** The names by their length: a field of another length, as nearly all are, costs one look. */
const BY_LENGTH: readonly (readonly Name[] | undefined)[] = Array.from({ length: 32 }, (_, length) => {
  const names = NAMES.filter((name) => name.length === length)
  return names.length === 0 ? undefined : names
})

/** Reads `fields` (name, value, name, value …) once. `single` is one more name that must not come twice. */
export function readHead(fields: readonly string[], single?: string): HeadFields {
  const head: HeadFields = {}
  let singles = 0
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string
    if (single !== undefined && isNamed(field, single) && ++singles === 2) head.twice ??= single
    const names = BY_LENGTH[field.length]
    if (names === undefined) continue
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as Name
      if (!isNamed(field, name)) continue
      const value = fields[at + 1] as string
      const known = head[name]
      head[name] = known === undefined ? value : `${known}, ${value}`
      if (known !== undefined && ONCE.has(name)) head.twice ??= name
    }
  }
  return head
}

/** The site that a request names: Host, else the `:authority` of HTTP/2, which comes before it. */
export function hostOf(fields: readonly string[]): string | undefined {
  return fieldOf(fields, 'host') ?? (fields[0] === ':authority' ? fields[1] : undefined)
}

/** The first field of a name, which is in lower case. */
export function fieldOf(fields: readonly string[], name: string): string | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, name)) return fields[at + 1]
  }
  return undefined
}

/** Whether a request came by HTTP/2: no parser of HTTP/1 takes a name that begins with a colon. */
export function isHttp2(fields: readonly string[]): boolean {
  return fields[0]?.charCodeAt(0) === COLON
}

const COLON = 58
