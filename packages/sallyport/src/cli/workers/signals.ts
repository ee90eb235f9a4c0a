import type { Terminal } from '../terminal/terminal.ts'

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

/** Resolves to the first of SIGINT and SIGTERM; another signal, at least a second later, exits at once. */
export function untilStopped(terminal: Terminal): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined
    const stop = (signal: NodeJS.Signals): void => {
      if (first === undefined) {
        first = performance.now()
        resolve(signal)
        // npm forwards the Ctrl-C that the terminal has sent to both, within a second.
      } else if (performance.now() - first > 1_000) {
        terminal.err('Stopped.')
        process.exit(1)
      }
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
