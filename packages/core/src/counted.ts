/** A count with its word: `1 record`, `1,204 records`, `0 entries`; `many` where that is more than an `s`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  const digits = String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${digits} ${count === 1 ? one : many}`
}
