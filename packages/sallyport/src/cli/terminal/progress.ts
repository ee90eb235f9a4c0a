import type { OpenHooks } from '@sallyport/engine'
import type { Terminal } from './terminal.ts'

/** Shows progress on stderr while work runs with these hooks: a bar on a terminal, elsewhere a line for each stage. */
export async function withProgress<Result>(
  terminal: Terminal,
  work: (hooks: OpenHooks) => Promise<Result>,
): Promise<Result> {
  const bar = createBar('Compiling the data')
  // Sources are compiled concurrently, so a stage may return.
  const seen = new Set<string>()
  try {
    return await work({
      onProgress(name, done, total) {
        bar.update(done, total, `${Math.floor((100 * done) / total)} %  ${name}`)
        if (!process.stderr.isTTY && !seen.has(name)) terminal.err(`compiling: ${name}`)
        seen.add(name)
      },
      onWait: () => terminal.err('Another process is compiling the data. Waiting for it to finish.'),
      // The proxy and the data commands describe old data themselves, and an answer names what is degraded.
      onNotice: (code, message) => void (code !== 'SALLYPORT_DATA_STALE' && terminal.err(`sallyport: ${message}`)),
    })
  } finally {
    bar.stop()
  }
}

const BAR_CELLS = 40

/** Shows a bar of counted steps on a terminal, nothing elsewhere. */
export function createBar(title: string) {
  let drawn = ''
  const draw = (line: string): void => {
    if (line === drawn || !process.stderr.isTTY) return
    drawn = line
    process.stderr.write(`\r\x1b[2K${line}`)
  }
  return {
    update(done: number, total: number, text = `${done} of ${total}`): void {
      const cells = Math.round((BAR_CELLS * done) / total)
      const line = `${title} [${'■'.repeat(cells).padEnd(BAR_CELLS)}] ${text}`
      // A line that wraps could not be erased.
      draw(line.slice(0, process.stderr.columns - 1))
    },
    stop: (): void => draw(''),
  }
}
