/** Names that a sentence has. */
const SHOWN = 4

/** The first of some names, and how many more there are of `count`. */
export function shortList(names: readonly string[], count = names.length): string {
  const rest = count - SHOWN
  return `${names.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
