import { setImmediate as turn } from 'node:timers/promises'
import { type Fetch, fetchText, HOUR_MS, parseHostOrPrefix } from '@sallyport/core'
import { parseGoDuration } from './go-duration.ts'
import type { CrowdsecConfig, Guarded } from './list-config.ts'
import { type ListRead, MAX_BYTES, readListLines } from './read-list.ts'

/** Origin of the decisions that gates of 0.2 made at CrowdSec: as a list they would ban again whom a gate has banned. */
const ORIGIN = 'sallyport'

const TIMEOUT_MS = 60_000
/** All decisions are asked for again so often: what was lost of a change is right again then. */
const WHOLE_MS = HOUR_MS
/** Decisions after which requests have their turn. */
const A_TURN = 2_000

/** An answer as a list; `unchanged` since the last one. */
export type DecisionsRead = ListRead | { readonly state: 'unchanged' }

export interface AskBounds {
  readonly timeoutMs?: number | undefined
  /** The changes since the last answer are enough. */
  readonly isLast: boolean
}

/** The decisions of CrowdSec that ban an address or a range, of this process's last answer and what came since. */
export interface Decisions {
  /** Asks for them, or for what changed. Where there is no answer those that have ended are gone all the same. */
  ask(outbound: Fetch, bounds: AskBounds): Promise<DecisionsRead>
}

/** A decision, and when it ends. */
interface Kept {
  readonly value: string
  readonly until: number
}

/** The decisions at the API of a configuration, as one of its bouncers asks for them. */
export function createDecisions(
  { crowdsec, key, wide = false }: Pick<CrowdsecConfig, 'crowdsec' | 'key'> & Partial<Guarded>,
  signal?: AbortSignal,
  now: () => number = Date.now,
): Decisions {
  const kept = new Map<number, Kept>()
  let wholeAt: number | undefined

  /** Whether any has ended. */
  function dropEnded(): boolean {
    const before = kept.size
    for (const [id, { until }] of kept) if (until <= now()) kept.delete(id)
    return kept.size < before
  }

  async function take(changes: Changes): Promise<boolean> {
    let changed = false
    let work = 0
    for (const row of changes.new) {
      const decision = decisionOf(row)
      if (++work % A_TURN === 0) await turn()
      if (decision === undefined) continue
      kept.set(decision.id, { value: decision.value, until: now() + decision.lasts })
      changed = true
    }
    // A startup names what has ended too.
    for (const row of changes.deleted) changed = kept.delete(idOf(row)) || changed
    return changed
  }

  const asList = (): Promise<ListRead> => readListLines(new Set([...kept.values()].map(({ value }) => value)), wide)

  return {
    async ask(outbound, { timeoutMs = TIMEOUT_MS, isLast }) {
      const isWhole = !isLast || wholeAt === undefined || now() - wholeAt >= WHOLE_MS
      const answer = await fetchText(outbound, {
        // Each decision by its id: of several for one address, one may be deleted and the others stay.
        url: `${crowdsec.replace(/\/$/, '')}/v1/decisions/stream?startup=${isWhole}&scopes=ip,range&dedup=false`,
        headers: { 'x-api-key': key },
        maxBytes: MAX_BYTES,
        timeoutMs,
        signal,
      })
      const changes = answer.state === 'answered' && answer.status === 200 ? changesOf(answer.body) : undefined
      if (changes === undefined) {
        const reason = reasonOf(answer)
        // The API may count a change as sent.
        wholeAt = undefined
        const read = isLast && dropEnded() ? await asList() : undefined
        return read?.state === 'read' ? { ...read, outdated: reason } : { state: 'refused', reason }
      }
      if (isWhole) {
        kept.clear()
        wholeAt = now()
      }
      const changed = await take(changes)
      return dropEnded() || changed || isWhole ? asList() : { state: 'unchanged' }
    },
  }
}

function reasonOf(answer: Awaited<ReturnType<typeof fetchText>>): string {
  if (answer.state === 'failed') return `could not be asked: ${answer.reason}`
  return answer.status === 200 ? 'answered with no decisions' : `answered with ${answer.status}`
}

interface Changes {
  readonly new: readonly unknown[]
  readonly deleted: readonly unknown[]
}

/** The members of an answer; Go writes an empty list as null. */
function changesOf(text: string): Changes | undefined {
  try {
    const { new: made, deleted } = JSON.parse(text)
    const isRows = (rows: unknown): boolean => rows === null || Array.isArray(rows)
    return isRows(made) && isRows(deleted) ? { new: made ?? [], deleted: deleted ?? [] } : undefined
  } catch {
    return undefined
  }
}

/** A decision that bans an address or a range, was not simulated, and is not ours: its end would come back as a wrong. */
function decisionOf(row: unknown): { readonly id: number; readonly value: string; readonly lasts: number } | undefined {
  const { type, scope, value, duration, origin, simulated } = membersOf(row)
  if (type !== 'ban' || simulated === true || origin === ORIGIN) return undefined
  if (typeof scope !== 'string' || !/^(ip|range)$/i.test(scope)) return undefined
  if (typeof value !== 'string' || parseHostOrPrefix(value) === undefined) return undefined
  const lasts = typeof duration === 'string' ? parseGoDuration(duration) : undefined
  const id = idOf(row)
  return lasts === undefined || Number.isNaN(id) ? undefined : { id, value, lasts }
}

function idOf(row: unknown): number {
  const { id } = membersOf(row)
  return typeof id === 'number' ? id : Number.NaN
}

function membersOf(row: unknown): Readonly<Record<string, unknown>> {
  return typeof row === 'object' && row !== null ? (row as Readonly<Record<string, unknown>>) : {}
}
