/** Returns the message of an error. Drivers report several failed addresses of one host without a message; then it returns the code. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message !== '' ? error.message : 'code' in error ? String(error.code) : error.name
}

/** Returns the code of an error of the system or of a driver, else its text. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : errorText(error)
}
