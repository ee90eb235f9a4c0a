import { LRUCache } from 'lru-cache'
import { valueCounts } from '../agent/fields.ts'
import type { InspectionRequest } from '../values/request.ts'

/** All of a request that an agent verdict rests on, besides its visitor. */
export interface RequestFingerprint {
  readonly method: string
  readonly httpVersion: string
  readonly scheme: InspectionRequest['scheme']
  readonly ja4: string | undefined
  readonly http2Window: number | undefined
  /** Raw fields; `undefined` in place of values that do not count: cookies are long and private. */
  readonly fields: readonly (string | undefined)[]
}

export interface RequestFingerprints {
  /** `undefined` where the request is too long to be kept. */
  of(request: InspectionRequest, userAgent: string): RequestFingerprint | undefined
}

/** Longer requests are judged each time, so that what is kept of one visitor stays small. */
const MAX_CHARACTERS = 1500

/** User agents of which the last fingerprint is kept. */
const MAX_USER_AGENTS = 512

/** Visitors with one browser send the same fields and share one fingerprint: a copy each would take several times the memory. */
export function createRequestFingerprints(): RequestFingerprints {
  const kept = new LRUCache<string, RequestFingerprint>({ max: MAX_USER_AGENTS })
  return {
    of(request, userAgent) {
      const known = kept.get(userAgent)
      if (known !== undefined && hasFingerprint(request, known)) return known
      const fingerprint = fingerprintOf(request)
      if (fingerprint !== undefined) kept.set(userAgent, fingerprint)
      return fingerprint
    },
  }
}

function fingerprintOf(request: InspectionRequest) {
  const { method, httpVersion, scheme, ja4, http2Window, fields: raw } = request
  const fields: (string | undefined)[] = []
  let characters = 0
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    const value = valueCounts(name) ? (raw[at + 1] as string) : undefined
    fields.push(name, value)
    characters += name.length + (value?.length ?? 0)
  }
  return characters > MAX_CHARACTERS
    ? undefined
    : Object.freeze({ method, httpVersion, scheme, ja4, http2Window, fields })
}

/** Whether a request has the same names, in their order and spelling, and the same values that count. */
export function hasFingerprint(request: InspectionRequest, known: RequestFingerprint): boolean {
  const { method, httpVersion, scheme, ja4, fields } = request
  if (fields.length !== known.fields.length) return false
  for (let at = 0; at < fields.length; at++) {
    const text = known.fields[at]
    if (text !== undefined && fields[at] !== text) return false
  }
  if (request.http2Window !== known.http2Window) return false
  return method === known.method && httpVersion === known.httpVersion && scheme === known.scheme && ja4 === known.ja4
}
