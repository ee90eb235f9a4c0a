/** Ends the command with an exit code; whatever there was to say has been said. */
export class ExitError extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}
