import { isNamed, listValues } from '../../address/forwarding.ts'
import type { DescribedBehaviour } from '../../values/behaviour.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { McpRequest } from '../../values/mcp.ts'
import type { InspectionRequest } from '../../values/request.ts'
import { collectValues, foldField, type ValuesByName, wideCookies, wideQuery } from './wide-values.ts'

/** Holds the parts of a request that an inspection does not keep; a log or a history lacks some of them. */
export interface AskedParts {
  readonly fields?: InspectionRequest['fields'] | undefined
  readonly target?: InspectionRequest['target'] | undefined
  readonly httpVersion?: InspectionRequest['httpVersion'] | undefined
  readonly ja4?: string | undefined
  /** The source keeps only these header fields, in lower case; by default it keeps all. */
  readonly kept?: readonly string[] | undefined
  /** The source leaves out these header fields, in lower case. */
  readonly lacks?: readonly string[] | undefined
  /** The source says this of the visitor's behaviour; `unknown` where it says nothing. */
  readonly behaviour?: DescribedBehaviour | 'unknown' | undefined
  /** Rules read only `unknown`: the source does not say what was called. */
  readonly mcp?: McpRequest | 'unknown' | undefined
  /** Its server had this load then; without it rules read the present load, where it is measured. */
  readonly load?: number | undefined
}

const NO_FIELDS: readonly string[] = []

/** Reads one request for a policy, each part once for all of its rules. */
export class Asked {
  readonly parts: AskedParts
  /** Adds up the weights of the rules that matched so far. */
  weight = 0
  #query: ValuesByName | undefined
  #wideQuery: ValuesByName | undefined
  #cookies: ValuesByName | undefined
  #wideCookies: ValuesByName | undefined
  #found: Map<unknown, unknown> | undefined

  constructor(parts: AskedParts) {
    this.parts = parts
  }

  get fields(): readonly string[] {
    return this.parts.fields ?? NO_FIELDS
  }

  /** Reports whether a header field would be here if the client had sent it. */
  keeps(name: string): boolean {
    const { fields, kept, lacks } = this.parts
    return fields !== undefined && (kept?.includes(name) ?? true) && lacks?.includes(name) !== true
  }

  has(name: string): boolean {
    const { fields } = this
    for (let at = 0; at < fields.length; at += 2) if (isNamed(fields[at] as string, name)) return true
    return false
  }

  /** Returns the values of a header field by its name in lower case, one for each line. */
  values(name: string): readonly string[] {
    return listValues(this.fields, name)
  }

  /** Returns what `find` finds in the request, and calls it once however many rules ask. */
  once<Found>(find: (asked: Asked, inspection: Inspection) => Found, inspection: Inspection): Found {
    this.#found ??= new Map()
    const known = this.#found.get(find)
    if (known !== undefined || this.#found.has(find)) return known as Found
    const found = find(this, inspection)
    this.#found.set(find, found)
    return found
  }

  /** Reports whether servers may read a header field as this one. */
  mayHave(name: string): boolean {
    return this.has(name) || (name.includes('-') && this.wideValues(name).length > 0)
  }

  /** Returns the values of every header field that servers may read as this one. */
  wideValues(name: string): readonly string[] {
    const { fields } = this
    const wanted = foldField(name)
    return fields.filter((_, at) => at % 2 === 1 && foldField(fields[at - 1] as string) === wanted)
  }

  /** Returns the parameters of the query, decoded; `undefined` where the target is not known. */
  get query(): ValuesByName | undefined {
    const text = this.#queryText()
    if (text === undefined) return undefined
    this.#query ??= collectValues(new URLSearchParams(text))
    return this.#query
  }

  /** Returns the parameters by folded names, in every way that servers read them. */
  get wideQuery(): ValuesByName | undefined {
    const text = this.#queryText()
    if (text === undefined) return undefined
    this.#wideQuery ??= wideQuery(text)
    return this.#wideQuery
  }

  #queryText(): string | undefined {
    const { target } = this.parts
    const mark = target?.indexOf('?') ?? -1
    return mark === -1 ? target && '' : target?.slice(mark + 1).split('#', 1)[0]
  }

  /** Returns the cookies as they were sent (RFC 6265 section 5.4), without quotes around their values. */
  get cookies(): ValuesByName | undefined {
    if (!this.keeps('cookie')) return undefined
    this.#cookies ??= collectValues(this.#cookiePairs())
    return this.#cookies
  }

  /** Returns the cookies by folded names, in every way that servers read them. */
  get wideCookies(): ValuesByName | undefined {
    if (!this.keeps('cookie')) return undefined
    this.#wideCookies ??= wideCookies(this.#cookiePairs())
    return this.#wideCookies
  }

  #cookiePairs(): readonly (readonly [string, string])[] {
    return this.values('cookie').flatMap((line) => line.split(';').flatMap(readCookie))
  }
}

function readCookie(pair: string): readonly (readonly [string, string])[] {
  const equals = pair.indexOf('=')
  if (equals === -1) return []
  const value = pair.slice(equals + 1).trim()
  const bare = value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
  return [[pair.slice(0, equals).trim(), bare]]
}
