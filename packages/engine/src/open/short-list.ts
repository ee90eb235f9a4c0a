/** Names that a sentence has. */
const SHOWN = 4

/** The first of some names, and how many more there are. */
export function shortList(names: readonly string[]): string {
  const rest = names.length - SHOWN
  return `${names.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
