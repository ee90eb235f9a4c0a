/** The message of an error; drivers give several failed addresses of one host without one, and then it is the code. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message !== '' ? error.message : 'code' in error ? String(error.code) : error.name
}
