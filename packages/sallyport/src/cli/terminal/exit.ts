/** Ends the command with an exit code and no further message. */
export class ExitError extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}
