/** Writes a count with its noun: `1 record`, `12 records`. */
export function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`
}
