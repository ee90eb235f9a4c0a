/** Writes a count with its word: `1 record`, `1,204 records`, `0 entries`; `many` is the plural where an `s` is not enough. */
export function counted(count: number, one: string, many = `${one}s`): string {
  const digits = String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${digits} ${count === 1 ? one : many}`
}
