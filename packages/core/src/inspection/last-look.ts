import { LRUCache } from 'lru-cache'
import { valueCounts } from '../agent/fields.ts'
import type { RulesInPlay } from '../policy/in-play.ts'
import type { AgentVerdict } from '../values/agent-verdict.ts'
import type { InspectedCrawler } from '../values/inspection.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { Ruling } from './decide.ts'

/** Who asks, and the crawler that was claimed. */
export interface Asks {
  readonly agent: AgentVerdict
  readonly crawler?: InspectedCrawler
}

/** All of a request that a verdict rests on besides the visitor: who shows the same is the same. */
export interface Shown {
  readonly method: string
  readonly httpVersion: string
  readonly scheme: InspectionRequest['scheme']
  readonly ja4: string | undefined
  /** Raw fields; the values that count for nothing are left out, because cookies are long and nobody's business. */
  readonly fields: readonly (string | undefined)[]
}

/** What the last request of a visitor that is remembered came to; whoever looks at one keeps it here. */
export interface Look {
  shown: Shown | undefined
  /** There where `shown` is. */
  asks: Asks | undefined
  /** The rules that can speak of requests like it, once they have been asked for. */
  rules: RulesInPlay | undefined
  /** What they come to, where they ask nothing about the request. */
  ruling: Ruling | undefined
}

/** Who asked, where this request shows what the last one did. */
export function asksAgain(look: Look, request: InspectionRequest): Asks | undefined {
  return look.shown !== undefined && isRepeated(request, look.shown) ? look.asks : undefined
}

/** Puts a look in the place of the last one; without `shown` the next request is looked at anew. */
export function keepLook(look: Look, shown: Shown | undefined, asks: Asks): void {
  look.shown = shown
  look.asks = asks
  look.rules = undefined
  look.ruling = undefined
}

/** Keeps what was shown; `undefined` where the request is too long to be remembered. */
export interface ShownRequests {
  of(request: InspectionRequest, userAgent: string): Shown | undefined
}

/** Longer requests are looked at each time: what is remembered of one visitor stays small. */
const MOST_CHARACTERS = 1500

/** User agents of which one request each is kept. */
const MOST_KEPT = 512

/**
 * Visitors with one browser show the same, and share one copy of it: what is compared with each of their requests is
 * then in the processor's cache, where a copy for each would not be.
 */
export function createShownRequests(): ShownRequests {
  const kept = new LRUCache<string, Shown>({ max: MOST_KEPT })
  return {
    of(request, userAgent) {
      const known = kept.get(userAgent)
      if (known !== undefined && isRepeated(request, known)) return known
      const shown = shownBy(request)
      if (shown !== undefined) kept.set(userAgent, shown)
      return shown
    },
  }
}

function shownBy({ method, httpVersion, scheme, ja4, fields: raw }: InspectionRequest): Shown | undefined {
  const fields: (string | undefined)[] = []
  let characters = 0
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    const value = valueCounts(name) ? (raw[at + 1] as string) : undefined
    fields.push(name, value)
    characters += name.length + (value?.length ?? 0)
  }
  return characters > MOST_CHARACTERS ? undefined : { method, httpVersion, scheme, ja4, fields }
}

/** Whether a request shows the same: names, their order and spelling, and the values that count. */
export function isRepeated({ method, httpVersion, scheme, ja4, fields }: InspectionRequest, shown: Shown): boolean {
  const known = shown.fields
  const { length } = known
  if (fields.length !== length) return false
  for (let at = 0; at < length; at++) {
    const text = known[at]
    if (text !== undefined && fields[at] !== text) return false
  }
  return method === shown.method && httpVersion === shown.httpVersion && scheme === shown.scheme && ja4 === shown.ja4
}
