/** Keys of earlier versions, by their path, with the sentence that says what to use instead. `*` is any name in the path. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {}

/** The sentence for a key of an earlier version; `undefined` for any other key. */
export function removal(path: readonly PropertyKey[]): string | undefined {
  const row = Object.keys(REMOVED_KEYS).find((key) => {
    const parts = key.split('.')
    return parts.length === path.length && parts.every((part, at) => part === '*' || part === String(path[at]))
  })
  return row === undefined ? undefined : REMOVED_KEYS[row]
}
