import type { OpenHooks } from '@sallyport/open'
import progress from 'cli-progress'
import type { Terminal } from './terminal.ts'

/** What `open()` says while it works, and the end of it. */
export interface Progress {
  readonly hooks: OpenHooks
  /** Takes the bar away. */
  stop(): void
}

/** Shows on stderr what `open()` is doing: a bar on a terminal, one line a stage elsewhere. */
export function showProgress(terminal: Terminal): Progress {
  const bar = process.stderr.isTTY ? createBar() : undefined
  // Sources are compiled side by side, so their stages take turns.
  const told = new Set<string>()
  return {
    hooks: {
      onProgress(name, done, total) {
        if (bar === undefined) {
          if (!told.has(name)) terminal.err(`compiling: ${name}`)
        } else if (told.size === 0) bar.start(total, done, { stage: name })
        else bar.update(done, { stage: name })
        told.add(name)
      },
      onWait: () => terminal.err('Another process compiles the data; waiting for it.'),
      onNotice: (_, message) => terminal.err(`sallyport: ${message}`),
    },
    stop: () => bar?.stop(),
  }
}

/** A bar of counted steps on a terminal, and nothing elsewhere. */
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
