import { setImmediate as turn } from 'node:timers/promises'
import { type Fetch, fetchText, HOUR_MS, isRecord, parseHostOrPrefix } from '@sallyport/core'
import { parseGoDuration } from './go-duration.ts'
import type { CrowdsecConfig } from './list-config.ts'
import { type ListRead, MAX_BYTES, readListLines } from './read-list.ts'

/** Origin of the decisions that version 0.2 made at CrowdSec: if they came back as a list, they would ban the same clients again. */
const ORIGIN = 'sallyport'

const TIMEOUT_MS = 60_000
/** The source requests all decisions again after this time, which repairs lost changes. */
const WHOLE_MS = HOUR_MS
/** After this many decisions, waiting requests are handled. */
const A_TURN = 2_000

/** A response is a list, or `unchanged` since the last response. */
export type DecisionsRead = ListRead | { readonly state: 'unchanged' }

export interface AskBounds {
  readonly timeoutMs?: number | undefined
  /** True if the changes since the last response are enough. */
  readonly isLast: boolean
}

/** Requests the decisions of a configured API, as a bouncer of CrowdSec does. */
export function createDecisions({ crowdsec, key, wide }: CrowdsecConfig, signal?: AbortSignal) {
  /** Holds decisions by id; each ends at a time in milliseconds since the epoch. */
  const kept = new Map<number, { readonly value: string; readonly until: number }>()
  let wholeAt: number | undefined

  function dropEnded(): boolean {
    const before = kept.size
    for (const [id, { until }] of kept) if (until <= Date.now()) kept.delete(id)
    return kept.size < before
  }

  async function take(changes: Changes): Promise<boolean> {
    let changed = false
    let work = 0
    for (const row of changes.new) {
      const decision = readDecision(row)
      if (++work % A_TURN === 0) await turn()
      if (decision === undefined) continue
      kept.set(decision.id, { value: decision.value, until: Date.now() + decision.lasts })
      changed = true
    }
    // The response to a startup also names expired decisions.
    for (const row of changes.deleted) changed = kept.delete(readId(row)) || changed
    return changed
  }

  const asList = (): Promise<ListRead> => readListLines(new Set([...kept.values()].map(({ value }) => value)), wide)

  return {
    /** Requests all decisions, or the changes. Without a response it still drops expired decisions. */
    async ask(outbound: Fetch, { timeoutMs = TIMEOUT_MS, isLast }: AskBounds): Promise<DecisionsRead> {
      const isWhole = !isLast || wholeAt === undefined || Date.now() - wholeAt >= WHOLE_MS
      const answer = await fetchText(outbound, {
        // Decisions are kept by id: of several for one address, one may be deleted while the others remain.
        url: `${crowdsec.replace(/\/$/, '')}/v1/decisions/stream?startup=${isWhole}&scopes=ip,range&dedup=false`,
        headers: { 'x-api-key': key },
        maxBytes: MAX_BYTES,
        timeoutMs,
        signal,
      })
      const changes = answer.state === 'answered' && answer.status === 200 ? parseChanges(answer.body) : undefined
      if (changes === undefined) {
        const reason = describeFailure(answer)
        // The API may count an unanswered change as sent.
        wholeAt = undefined
        const read = isLast && dropEnded() ? await asList() : undefined
        return read?.state === 'read' ? { ...read, outdated: reason } : { state: 'refused', reason }
      }
      if (isWhole) {
        kept.clear()
        wholeAt = Date.now()
      }
      const changed = await take(changes)
      return dropEnded() || changed || isWhole ? asList() : { state: 'unchanged' }
    },
  }
}

function describeFailure(answer: Awaited<ReturnType<typeof fetchText>>): string {
  if (answer.state === 'failed') return `could not be reached: ${answer.reason}`
  return answer.status === 200 ? 'responded without decisions' : `responded with ${answer.status}`
}

type Changes = Readonly<Record<'new' | 'deleted', readonly unknown[]>>

/** Reads the members of a response; Go writes an empty list as null. */
function parseChanges(text: string): Changes | undefined {
  try {
    const { new: made, deleted } = JSON.parse(text)
    const isRows = (rows: unknown): boolean => rows === null || Array.isArray(rows)
    return isRows(made) && isRows(deleted) ? { new: made ?? [], deleted: deleted ?? [] } : undefined
  } catch {
    return undefined
  }
}

/** Reads a decision that bans an address or a range, was not simulated, and is not ours: an echo of our own ban would ban again. */
function readDecision(row: unknown) {
  const { type, scope, value, duration, origin, simulated } = readMembers(row)
  if (type !== 'ban' || simulated === true || origin === ORIGIN) return undefined
  if (typeof scope !== 'string' || !/^(ip|range)$/i.test(scope)) return undefined
  if (typeof value !== 'string' || parseHostOrPrefix(value) === undefined) return undefined
  const lasts = typeof duration === 'string' ? parseGoDuration(duration) : undefined
  const id = readId(row)
  return lasts === undefined || Number.isNaN(id) ? undefined : { id, value, lasts }
}

function readId(row: unknown): number {
  const { id } = readMembers(row)
  return typeof id === 'number' ? id : Number.NaN
}

function readMembers(row: unknown): Readonly<Record<string, unknown>> {
  return isRecord(row) ? row : {}
}
