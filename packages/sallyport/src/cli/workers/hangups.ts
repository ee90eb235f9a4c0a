/** Calls `reload` at each SIGHUP from now on, and at once where one came before. */
export type Hangups = (reload: () => void) => void

/** Records SIGHUP, which would end a process that is still starting; supervisors and log rotation send it at any time. */
export function noteHangups(): Hangups {
  let noted = false
  let reload = (): void => {
    noted = true
  }
  process.on('SIGHUP', () => reload())
  return (next) => {
    reload = next
    if (noted) next()
  }
}
