import { LRUCache } from 'lru-cache'
import { valueCounts } from '../agent/fields.ts'
import type { InspectionRequest } from '../values/request.ts'

/** Holds all of a request that an agent verdict rests on, besides its visitor. */
export interface RequestFingerprint {
  readonly method: string
  readonly httpVersion: string
  readonly scheme: InspectionRequest['scheme']
  readonly ja4: string | undefined
  readonly http2Window: number | undefined
  /** Raw fields; `undefined` takes the place of values that do not count: cookies are long and private. */
  readonly fields: readonly (string | undefined)[]
}

/** Longer requests are judged each time, so that each visitor takes little memory. */
const MAX_CHARACTERS = 1500

/** Limits the user agents whose last fingerprint is kept. */
const MAX_USER_AGENTS = 512

/** Shares fingerprints: visitors with one browser send the same fields, and a copy each would take several times the memory. */
export function createRequestFingerprints() {
  const kept = new LRUCache<string, RequestFingerprint>({ max: MAX_USER_AGENTS })
  return {
    /** Returns `undefined` where the request is too long to keep. */
    of(request: InspectionRequest, userAgent: string): RequestFingerprint | undefined {
      const known = kept.get(userAgent)
      if (known !== undefined && hasFingerprint(request, known)) return known
      const fingerprint = readFingerprint(request)
      if (fingerprint !== undefined) kept.set(userAgent, fingerprint)
      return fingerprint
    },
  }
}

function readFingerprint(request: InspectionRequest) {
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

/** Reports whether a request has the same names, in their order and spelling, and the same values that count. */
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
