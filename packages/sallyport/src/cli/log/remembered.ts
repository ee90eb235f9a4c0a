import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { SallyportError } from '@sallyport/core'
import { type Config, readEntry } from '@sallyport/engine'
import { askGate } from '../service/gate.ts'
import type { LogEntry, LogSource } from './entry.ts'

/** Pause between two questions to a gate whose memory is followed. */
const FOLLOW_MS = 1_000

/** Requests that ended this long before the newest one may arrive later: each process answers for itself. */
const LATE_MS = 5_000

/** Opens the memory of the running gate, or one request of it by its id. Throws `invalid_request` where no gate answers. */
export async function openMemory(config: Config, id: string | undefined): Promise<LogSource> {
  const first = await askForLines(config, id === undefined ? {} : { id })
  if ('reason' in first) {
    const found = `There is no --log, log.file is not set, and ${first.reason}`
    throw new SallyportError('invalid_request', `${found}. Use --log, set log.file, or pipe the log into --log -.`)
  }
  return {
    name: `the memory of the gate at ${first.where}`,
    holds:
      'The memory holds the last 4,000 requests of each process, at most 50 allowed and 100 other requests per second. Set log.file to keep more.',
    isMemory: true,
    entries: Readable.from(first.entries),
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

async function askForLines(config: Config, about: Record<string, string>) {
  const answer = await askGate(config, 'lines', about)
  if ('reason' in answer) return answer
  const { lines } = answer.body as { readonly lines?: unknown }
  const entries = Array.isArray(lines) ? lines.map((line) => readEntry(JSON.stringify(line))) : []
  return { entries: entries.filter((entry) => entry !== undefined), where: answer.where }
}

function findEnd(entry: LogEntry): number {
  return Date.parse(entry.time) + ('milliseconds' in entry ? entry.milliseconds : 0)
}

function nameEntry(entry: LogEntry): string {
  return 'requestId' in entry ? `${entry.requestId} ${entry.time}` : entry.time
}
