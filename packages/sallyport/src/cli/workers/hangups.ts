/** SIGHUP of a process, from its start on. */
export interface Hangups {
  /** Has `reload` called at each from now on, and now where one has come before. */
  take(reload: () => void): void
}

/** Notes SIGHUP, which would end a process that is still starting; supervisors and log rotation send it at any time. */
export function noteHangups(): Hangups {
  let noted = false
  let reload = (): void => {
    noted = true
  }
  process.on('SIGHUP', () => reload())
  return {
    take(next) {
      reload = next
      if (noted) next()
    },
  }
}
