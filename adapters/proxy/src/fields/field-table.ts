import { foldedName, nominated } from '@sallyport/node/internal'

/** Hop-by-hop fields (RFC 9110 7.6.1): they are about one connection, and go no further. */
export const HOP_FIELDS = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
]

/** Finds what is done with a field by its name in lower case. */
export interface FieldTable<Action> {
  get(lower: string): Action | undefined
  /** Classifies a name that `get` does not have. */
  find(lower: string): Action
}

/** Names that are remembered beside those of the table: clients may send any number of names. */
const MAX_KNOWN = 4_096

/**
 * Compiles what is done with the fields of a message: one lookup for each field, and no call for a known name. `known` holds
 * names as `foldedName` writes them. A name that a server may read as one of these is `misread` in another spelling: lighttpd reads
 * `X!Real!IP` as `X-Real-IP`. `classify` says what is done with all other names, which are folded.
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

/** Values of Connection that name no further field: nearly always it is one of these. */
export const PLAIN_CONNECTIONS: ReadonlySet<string> = new Set([...HOP_FIELDS, 'close', ''])

/** The fields that a Connection field makes hop-by-hop too, in lower case. */
export function madeHopByHop(connection: string): readonly string[] {
  return nominated(connection).filter((name) => !PLAIN_CONNECTIONS.has(name))
}

/** Fields (name, value, name, value …) without those of these names. */
export function withoutNamed(fields: string[], names: readonly string[]): string[] {
  return fields.filter((_, i) => !names.includes((fields[i - (i % 2)] as string).toLowerCase()))
}
