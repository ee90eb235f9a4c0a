import { setTimeout as delay } from 'node:timers/promises'
import { SallyportError } from '@sallyport/core'
import { type Config, readEntry } from '@sallyport/engine'
import { askGate } from '../service/gate.ts'
import type { LogEntry } from './entry.ts'

/** Pause between two questions to a gate whose memory is followed. */
const FOLLOW_MS = 1_000

/** Requests that ended this long before the newest one may arrive later: each process answers for itself. */
const LATE_MS = 5_000

/** The decision log as a running gate remembers it. */
export interface RememberedLog {
  /** The name that the log has in messages. */
  readonly name: string
  readonly entries: readonly LogEntry[]
  /** Yields the same entries, and later ones; calls `onEnd` whenever no entry is left for now. */
  follow(onEnd: () => void): AsyncIterable<LogEntry>
}

/**
 * Asks the gate that runs with a configuration for the requests that it remembers, or for one by its id; returns the reason where no gate
 * answers.
 */
export async function rememberedLog(
  config: Config,
  id: string | undefined,
): Promise<RememberedLog | { readonly reason: string }> {
  const about: Readonly<Record<string, string>> = id === undefined ? {} : { id }
  const first = await askForLines(config, about)
  if ('reason' in first) return first
  return {
    name: `the memory of the gate at ${first.where}`,
    entries: first.entries,
    async *follow(onEnd) {
      yield* first.entries
      for (let before = first.entries; ; ) {
        onEnd()
        await delay(FOLLOW_MS)
        const next = await askForLines(config, { since: String(Math.max(0, ...before.map(findEnd)) - LATE_MS) })
        if ('reason' in next) throw new SallyportError('service_unavailable', `${next.reason} any more.`)
        const shown = new Set(before.map(nameEntry))
        yield* next.entries.filter((entry) => !shown.has(nameEntry(entry)))
        if (next.entries.length > 0) before = next.entries
      }
    },
  }
}

async function askForLines(
  config: Config,
  about: Readonly<Record<string, string>>,
): Promise<{ readonly entries: readonly LogEntry[]; readonly where: string } | { readonly reason: string }> {
  const answer = await askGate(config, 'lines', about)
  if ('reason' in answer) return answer
  const { lines } = answer.body as { readonly lines?: unknown }
  const entries = Array.isArray(lines) ? lines.map((line) => readEntry(JSON.stringify(line))) : []
  return { entries: entries.filter((entry) => entry !== undefined), where: answer.where }
}

/** Returns when a request ended, in milliseconds since the epoch. */
function findEnd(entry: LogEntry): number {
  return Date.parse(entry.time) + ('milliseconds' in entry ? entry.milliseconds : 0)
}

function nameEntry(entry: LogEntry): string {
  return 'requestId' in entry ? `${entry.requestId} ${entry.time}` : entry.time
}
