import { setTimeout as delay } from 'node:timers/promises'

/** A program that is piped in has begun to write by then; an input that nobody writes to, as a service's, has not. */
const PATIENCE_MS = 2_000

/** The text on standard input. */
export interface PipedText {
  /** Whether anything has come: not yet, or not at all. */
  readonly state: 'begun' | 'silent' | 'empty'
  readonly text: AsyncIterable<string>
  /** Lets go of it, so that the process ends although somebody may still write. */
  leave(): void
}

/** Waits for the first of what is piped in, and not for long. */
export async function pipedText(): Promise<PipedText> {
  const { stdin } = process
  const chunks: AsyncIterator<string> = stdin.setEncoding('utf8')[Symbol.asyncIterator]()
  const first = chunks.next()
  const found = await Promise.race([first, delay(PATIENCE_MS)])
  const state = found === undefined ? 'silent' : found.done === true ? 'empty' : 'begun'
  return { state, text: joined(first, chunks), leave: () => void stdin.destroy() }
}

async function* joined(
  first: Promise<IteratorResult<string>>,
  chunks: AsyncIterator<string>,
): AsyncGenerator<string, void> {
  const { value, done } = await first
  if (done === true) return
  yield value
  yield* { [Symbol.asyncIterator]: () => chunks }
}
