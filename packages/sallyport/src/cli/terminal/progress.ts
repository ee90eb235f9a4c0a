import type { OpenHooks } from '@sallyport/engine'
import type { Terminal } from './terminal.ts'

/** The hooks of `open()` that show its progress. */
export interface Progress {
  readonly hooks: OpenHooks
  /** Stops the progress bar. */
  stop(): void
}

/** Shows progress on stderr: a bar on a terminal, elsewhere a line for each stage. */
export function createProgress(terminal: Terminal): Progress {
  const bar = process.stderr.isTTY ? createBar('Compiling the data') : undefined
  // Sources are compiled concurrently, so a stage may return.
  const seen = new Set<string>()
  return {
    hooks: {
      onProgress(name, done, total) {
        if (bar !== undefined) bar.update(done, total, `${Math.floor((100 * done) / total)} %  ${name}`)
        else if (!seen.has(name)) terminal.err(`compiling: ${name}`)
        seen.add(name)
      },
      onWait: () => terminal.err('Another process is compiling the data. Waiting for it to finish.'),
      // The proxy and the data commands describe old data themselves, and an answer names what is degraded.
      onNotice: (code, message) => void (code !== 'SALLYPORT_DATA_STALE' && terminal.err(`sallyport: ${message}`)),
    },
    stop: () => bar?.stop(),
  }
}

interface Bar {
  update(done: number, total: number, text?: string): void
  stop(): void
}

/** Shows a bar of counted steps on a terminal, nothing elsewhere. */
export function showBar(title: string): Bar {
  return process.stderr.isTTY ? createBar(title) : { update: () => {}, stop: () => {} }
}

const BAR_CELLS = 40

function createBar(title: string): Bar {
  let drawn = ''
  const draw = (line: string): void => {
    if (line === drawn) return
    drawn = line
    process.stderr.write(`\r\x1b[2K${line}`)
  }
  return {
    update(done, total, text = `${done} of ${total}`) {
      const cells = Math.round((BAR_CELLS * done) / total)
      const line = `${title} [${'■'.repeat(cells).padEnd(BAR_CELLS)}] ${text}`
      // A line that wraps could not be erased.
      draw(line.slice(0, process.stderr.columns - 1))
    },
    stop: () => draw(''),
  }
}
