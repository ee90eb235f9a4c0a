import type { OpenHooks } from '@sallyport/engine'
import progress from 'cli-progress'
import type { Terminal } from './terminal.ts'

/** The hooks of `open()` that show its progress. */
export interface Progress {
  readonly hooks: OpenHooks
  /** Stops the progress bar. */
  stop(): void
}

/** Progress on stderr: a bar on a terminal, elsewhere a line for each stage. */
export function createProgress(terminal: Terminal): Progress {
  const bar = process.stderr.isTTY ? createBar() : undefined
  // Sources are compiled concurrently, so a stage may return.
  const seen = new Set<string>()
  return {
    hooks: {
      onProgress(name, done, total) {
        if (bar === undefined) {
          if (!seen.has(name)) terminal.err(`compiling: ${name}`)
        } else if (seen.size === 0) bar.start(total, done, { stage: name })
        else bar.update(done, { stage: name })
        seen.add(name)
      },
      onWait: () => terminal.err('Another process compiles the data; waiting for it.'),
      // The proxy and the data commands say how old it is in their own words, and an answer names what is degraded.
      onNotice: (code, message) => void (code !== 'SALLYPORT_DATA_STALE' && terminal.err(`sallyport: ${message}`)),
    },
    stop: () => bar?.stop(),
  }
}

/** A bar of counted steps on a terminal, nothing elsewhere. */
export function showBar(title: string): { update(done: number, total: number): void; stop(): void } {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} }
  const bar = createBar(`${title} [{bar}] {value} of {total}`)
  let started = false
  return {
    update(done, total) {
      if (!started) bar.start(total, 0)
      started = true
      bar.update(done)
    },
    stop: () => bar.stop(),
  }
}

function createBar(format = 'Compiling the data [{bar}] {percentage} %  {stage}'): progress.SingleBar {
  return new progress.SingleBar({ format, clearOnComplete: true, hideCursor: true }, progress.Presets.rect)
}
