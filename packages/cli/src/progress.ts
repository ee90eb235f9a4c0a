import progress from 'cli-progress'
import type { OpenHooks } from 'sallyport'
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
  let stage = ''
  return {
    hooks: {
      onProgress(name, done, total) {
        if (bar === undefined) {
          if (name !== stage) terminal.err(`compiling: ${name}`)
        } else if (stage === '') bar.start(total, done, { stage: name })
        else bar.update(done, { stage: name })
        stage = name
      },
      onWait: () => terminal.err('Another process compiles the data; waiting for it.'),
      onNotice: (_, message) => terminal.err(`sallyport: ${message}`),
    },
    stop: () => bar?.stop(),
  }
}

function createBar(): progress.SingleBar {
  const format = 'Compiling the data [{bar}] {percentage} %  {stage}'
  return new progress.SingleBar({ format, clearOnComplete: true, hideCursor: true }, progress.Presets.rect)
}
