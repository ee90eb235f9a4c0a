import type { UpdateByHand, Updates } from '@sallyport/open'
import progress from 'cli-progress'
import { entriesText } from './terminal.ts'

type Outcome = Awaited<ReturnType<Updates['update']>>[number]

/** What is shown while feeds are updated, and the end of it. */
export interface UpdateProgress {
  readonly hooks: Pick<UpdateByHand, 'onBytes' | 'onOutcome'>
  /** Takes the bars away. */
  stop(): void
}

/** Shows what comes in: bars where the stream is a terminal, and a line a source where its update has ended. */
export function showUpdates(tell: (line: string) => void, stream: NodeJS.WriteStream = process.stderr): UpdateProgress {
  const onOutcome = (outcome: Outcome) => tell(outcomeLine(outcome))
  return stream.isTTY ? showBars(onOutcome, stream) : { hooks: { onOutcome }, stop: () => {} }
}

function showBars(tell: (outcome: Outcome) => void, stream: NodeJS.WriteStream): UpdateProgress {
  const format = '[{bar}] {source}  {received}'
  const bars = new progress.MultiBar({ format, stream, clearOnComplete: true, hideCursor: true }, progress.Presets.rect)
  const open = new Map<string, progress.SingleBar>()
  const outcomes: Outcome[] = []
  return {
    hooks: {
      onBytes(source, bytes, total) {
        // A server that does not say how much comes shows as half done.
        const size = total ?? bytes * 2
        const told = { source, received: `${(bytes / 2 ** 20).toFixed(1)} MB` }
        const bar = open.get(source) ?? bars.create(size, 0, told)
        open.set(source, bar)
        bar.setTotal(size)
        bar.update(bytes, told)
      },
      onOutcome(outcome) {
        const bar = open.get(outcome.source)
        if (bar !== undefined) bars.remove(bar)
        outcomes.push(outcome)
      },
    },
    // Lines among bars that move would be overwritten.
    stop() {
      bars.stop()
      for (const outcome of outcomes) tell(outcome)
    },
  }
}

/** How the update of one source ended, as a line. */
function outcomeLine(outcome: Outcome): string {
  switch (outcome.state) {
    case 'updated':
      return `${outcome.source}: updated, ${entriesText(outcome.entries)}`
    case 'unchanged':
      return `${outcome.source}: unchanged`
    default:
      return `${outcome.source}: ${outcome.state}, ${outcome.reason}`
  }
}
