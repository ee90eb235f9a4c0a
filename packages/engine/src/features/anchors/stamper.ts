import { errorText, type Fetch, HOUR_MS } from '@sallyport/core'
import type { Grown } from '@sallyport/ledger'
import { LRUCache } from 'lru-cache'
import { type Answer, type AskPorts, askAuthority, nameAuthority, nameWitness, openReader } from './ask-authority.ts'
import type { AnchorConfig } from './keys.ts'

export interface StamperPorts {
  readonly fetch: Fetch
  now(): number
  onAnswer(state: 'stamped' | 'refused' | 'failed'): void
}

const FIRST_WAIT_MS = 60_000

interface Asked {
  readonly name: string
  readonly kind: 'timestamps' | 'cosignatures'
  readonly ask: (checkpoint: string, grown: Grown, ports: AskPorts) => Promise<Answer>
  failures: number
  nextAt: number
  reason?: string | undefined
  /** Has the logs that a witness does not know; each is asked about again after an hour. */
  readonly unknown: LRUCache<string, string>
}

const MAX_UNKNOWN = 1_000

/** Lists what the configuration names. The reader of timestamps is opened with the first one. */
function listAsked(config: AnchorConfig): readonly Asked[] {
  let reader: ReturnType<typeof openReader> | undefined
  const askByUrl = async (url: string, checkpoint: string, ports: AskPorts): Promise<Answer> => {
    try {
      reader ??= openReader(config)
      return await askAuthority(url, Buffer.from(checkpoint), await reader, ports)
    } catch (error) {
      // The package, or the file of certificates, may be there the next time.
      reader = undefined
      throw error
    }
  }
  const { timestamps, witnesses } = config.ledger
  const make = (name: string, kind: Asked['kind'], ask: Asked['ask']): Asked => {
    return { name, kind, ask, failures: 0, nextAt: 0, unknown: new LRUCache({ max: MAX_UNKNOWN, ttl: HOUR_MS }) }
  }
  return [
    ...timestamps.map((url) =>
      make(nameAuthority(url), 'timestamps', (checkpoint, _, ports) => askByUrl(url, checkpoint, ports)),
    ),
    ...witnesses.map((named) =>
      make(nameWitness(named.vkey), 'cosignatures', async (checkpoint, grown, ports) => {
        // The ledger is loaded where it is used.
        const { askWitness } = await import('./ask-witness.ts')
        return askWitness(named, checkpoint, grown, ports)
      }),
    ),
  ]
}

/** Opens what asks authorities and witnesses; `undefined` where none is configured. Asks nobody yet. */
export function createStamper(config: AnchorConfig, { fetch, now, onAnswer }: StamperPorts) {
  const all = listAsked(config)
  if (all.length === 0) return undefined
  const ending = new AbortController()

  function settle(asked: Asked, log: string, answer: Answer): void {
    onAnswer(answer.state === 'unknown' ? 'refused' : answer.state)
    if (answer.state === 'unknown') asked.unknown.set(log, answer.reason)
    else if (answer.state === 'stamped') Object.assign(asked, { failures: 0, nextAt: 0, reason: undefined })
    else {
      asked.failures++
      asked.nextAt = now() + Math.min(HOUR_MS, FIRST_WAIT_MS * 2 ** (asked.failures - 1))
      asked.reason = answer.reason
    }
  }

  // A clock that was set back must not silence an authority for longer than an hour.
  const isDue = ({ nextAt }: Asked): boolean => now() >= nextAt || nextAt - now() > HOUR_MS

  const fault = (): string | undefined => {
    const failing = all.flatMap(({ name, reason, unknown }) => {
      const why = reason ?? unknown.values().next().value
      return why === undefined ? [] : [`${name}: ${why}`]
    })
    return failing.join('; ') || undefined
  }

  return {
    async stamp(checkpoint: string, grown: Grown) {
      const log = checkpoint.split('\n', 1)[0] as string
      const due = all.filter((asked) => isDue(asked) && !asked.unknown.has(log))
      const ports = { fetch, now, signal: ending.signal }
      const answers = await Promise.all(
        due.map(async (asked) => {
          const failed = (error: unknown): Answer => ({ state: 'failed', reason: errorText(error) })
          const answer = await asked.ask(checkpoint, grown, ports).catch(failed)
          settle(asked, log, answer)
          return { ...asked, response: answer.state === 'stamped' ? answer.response : undefined }
        }),
      )
      const given = (kind: Asked['kind']) =>
        answers.flatMap((one) => (one.kind === kind && one.response ? [[one.name, one.response] as const] : []))
      const lines = given('cosignatures').map(([, line]) => Buffer.from(line).toString())
      return { timestamps: Object.fromEntries(given('timestamps')), cosignatures: lines.join('') }
    },
    /** Why one of them does not stamp now; `undefined` while all do, or none was asked yet. */
    fault,
    /** Why records may have no anchor yet. */
    unanchored: (): string => fault() ?? 'requests go out every ten minutes, and none has covered these records yet',
    /** Ends what is under way. */
    close: (): void => ending.abort(),
  }
}
