import { foldedName, nominated } from '@sallyport/node/internal'

/** Hop-by-hop fields (RFC 9110 7.6.1) concern one connection, and go no further. */
export const HOP_FIELDS = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
]

/** Finds the action for a field by its name in lower case. */
export interface FieldTable<Action> {
  get(lower: string): Action | undefined
  /** Classifies a name that `get` does not have. */
  find(lower: string): Action
}

/** Limits the names that are remembered beside those of the table: clients may send any number of names. */
const MAX_KNOWN = 4_096

/**
 * Compiles the actions for fields of a message: one lookup for each field, and no call for a known name. `known` holds names as
 * `foldedName` writes them. A known name in another spelling is `misread`, because servers may confuse them: lighttpd reads `X!Real!IP` as
 * `X-Real-IP`. `classify` decides about all other names, folded.
 */
export function createFieldTable<Action>(
  known: ReadonlyMap<string, Action>,
  misread: (action: Action) => Action,
  classify: (folded: string, isExact: boolean) => Action,
): FieldTable<Action> {
  const found = new Map(known)
  return {
    get: (lower) => found.get(lower),
    find(lower) {
      const folded = foldedName(lower)
      const read = known.get(folded)
      const action = read === undefined ? classify(folded, folded === lower) : folded === lower ? read : misread(read)
      if (found.size < MAX_KNOWN) found.set(lower, action)
      return action
    },
  }
}

/** Values of Connection that name no further field; nearly every value is one of them. */
export const PLAIN_CONNECTIONS: ReadonlySet<string> = new Set([...HOP_FIELDS, 'close', ''])

/** Returns the fields that a Connection field makes hop-by-hop too, in lower case. */
export function madeHopByHop(connection: string): readonly string[] {
  return nominated(connection).filter((name) => !PLAIN_CONNECTIONS.has(name))
}

/** Removes the fields of these names from a list (name, value, name, value …). */
export function withoutNamed(fields: string[], names: readonly string[]): string[] {
  return fields.filter((_, i) => !names.includes((fields[i - (i % 2)] as string).toLowerCase()))
}

/** Lists the values of a field in a list (name, value, name, value …); `name` is in lower case. */
export function listValues(fields: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string
    if (field.length === name.length && field.toLowerCase() === name) values.push(fields[at + 1] as string)
  }
  return values
}
