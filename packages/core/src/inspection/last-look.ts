import { valueCounts } from '../agent/fields.ts'
import type { AgentVerdict } from '../agent/verdict.ts'
import type { RulesInPlay } from '../policy/in-play.ts'
import type { InspectedCrawler } from './claimed-crawler.ts'
import type { Ruling } from './decide.ts'
import type { InspectionRequest } from './request.ts'

/** Who asks, and the crawler that was claimed. */
export interface Asks {
  readonly agent: AgentVerdict
  readonly crawler?: InspectedCrawler
}

/** What a visitor's last request came to, and all that it rested on besides the visitor: who shows the same is the same. */
export interface LastLook {
  readonly method: string
  readonly httpVersion: string
  readonly scheme: InspectionRequest['scheme']
  readonly ja4: string | undefined
  /** Raw fields; the values that count for nothing are left out, because cookies are long and nobody's business. */
  readonly fields: readonly (string | undefined)[]
  readonly asks: Asks
  /** The rules that can speak of requests like it, once they have been asked for. */
  rules: RulesInPlay | undefined
  /** What they come to, where they ask nothing about the request. */
  ruling: Ruling | undefined
}

/** Longer requests are looked at each time: what is remembered of one visitor stays small. */
const MOST_CHARACTERS = 1500

/** `undefined` where the request is too long to be remembered. */
export function lastLookOf(request: InspectionRequest, asks: Asks): LastLook | undefined {
  const { method, httpVersion, scheme, ja4, fields: raw } = request
  const fields: (string | undefined)[] = []
  let characters = 0
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    const value = valueCounts(name) ? (raw[at + 1] as string) : undefined
    fields.push(name, value)
    characters += name.length + (value?.length ?? 0)
  }
  if (characters > MOST_CHARACTERS) return undefined
  return { method, httpVersion, scheme, ja4, fields, asks, rules: undefined, ruling: undefined }
}

export function isRepeated({ method, httpVersion, scheme, ja4, fields }: InspectionRequest, last: LastLook): boolean {
  if (fields.length !== last.fields.length) return false
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at] !== last.fields[at]) return false
    const value = last.fields[at + 1]
    if (value !== undefined && fields[at + 1] !== value) return false
  }
  return method === last.method && httpVersion === last.httpVersion && scheme === last.scheme && ja4 === last.ja4
}
