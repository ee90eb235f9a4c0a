import { counted } from '@sallyport/core'
import type { UpdateByHand, Updates } from '@sallyport/engine'
import progress from 'cli-progress'

type Outcome = Awaited<ReturnType<Updates['update']>>[number]

/** The hooks of an update that show its progress. */
export interface UpdateProgress {
  readonly hooks: Pick<UpdateByHand, 'onBytes' | 'onOutcome'>
  /** Stops the bars and prints the outcomes. */
  stop(): void
}

/** Bars of bytes where the stream is a terminal, and a line for each source's outcome. */
export function createUpdateProgress(
  print: (line: string) => void,
  stream: NodeJS.WriteStream = process.stderr,
): UpdateProgress {
  const onOutcome = (outcome: Outcome) => print(outcomeLine(outcome))
  return stream.isTTY ? createBars(onOutcome, stream) : { hooks: { onOutcome }, stop: () => {} }
}

function createBars(print: (outcome: Outcome) => void, stream: NodeJS.WriteStream): UpdateProgress {
  const format = '[{bar}] {source}  {received}'
  const bars = new progress.MultiBar({ format, stream, clearOnComplete: true, hideCursor: true }, progress.Presets.rect)
  const open = new Map<string, progress.SingleBar>()
  const outcomes: Outcome[] = []
  return {
    hooks: {
      onBytes(source, bytes, total) {
        // Without a Content-Length the bar shows half.
        const size = total ?? bytes * 2
        const payload = { source, received: `${(bytes / 2 ** 20).toFixed(1)} MB` }
        const bar = open.get(source) ?? bars.create(size, 0, payload)
        open.set(source, bar)
        bar.setTotal(size)
        bar.update(bytes, payload)
      },
      onOutcome(outcome) {
        const bar = open.get(outcome.source)
        if (bar !== undefined) bars.remove(bar)
        outcomes.push(outcome)
      },
    },
    // Moving bars would overwrite the lines.
    stop() {
      bars.stop()
      for (const outcome of outcomes) print(outcome)
    },
  }
}

/** A source's outcome as a line. */
function outcomeLine(outcome: Outcome): string {
  switch (outcome.state) {
    case 'updated':
      return `${outcome.source}: updated, ${counted(outcome.entries, 'entry', 'entries')}`
    case 'unchanged':
      return `${outcome.source}: unchanged`
    default:
      return `${outcome.source}: ${outcome.state}, ${outcome.reason}`
  }
}
