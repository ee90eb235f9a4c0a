/** The message of an error; drivers give several failed addresses of one host without one, and then it is the code. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message !== '' ? error.message : 'code' in error ? String(error.code) : error.name
}

/** The code of an error of the system or of a driver, else its text. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : errorText(error)
}
