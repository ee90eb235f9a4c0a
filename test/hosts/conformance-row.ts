import type { Visitor } from './scene.ts'

/** One request and what every host must answer to it. */
export interface Row {
  readonly name: string
  readonly mode?: 'monitor' | undefined
  readonly method: string
  /** Target; under the API's mount when `api` is set. */
  readonly path: string
  readonly api?: true | undefined
  /** The target is sent in absolute form (RFC 9112 3.2.2). */
  readonly absolute?: true | undefined
  /** Name, value, name, value …, as they are written on the wire. */
  readonly fields: readonly string[]
  readonly body?: string | undefined
  readonly status: number
  /** Response headers that must have these values. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Members that the JSON of the response must have. */
  readonly json?: Readonly<Record<string, unknown>> | undefined
  /** Texts that must stand in the response. */
  readonly includes?: readonly string[] | undefined
  /** A parser of the host that comes before the API refuses this in its own words, if at all. */
  readonly refusedByParsers?: true | undefined
  /** Its body is announced and never sent. */
  readonly unsent?: true | undefined
  /** Its body is a form, for which a host may have no parser. */
  readonly form?: true | undefined
  /** It has two fields of one name. */
  readonly twice?: true | undefined
  /** The inspection comes before the API. */
  readonly inspectedFirst?: true | undefined
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Id that the trusted proxy in front of every host gives each request. */
export const REQUEST_ID = 'conformance-1'

/** Lists our fields that the site sees of a visitor. */
export function readVerdict({ verdict }: Visitor): readonly string[] {
  return [...verdict.slice(0, 6), 'sallyport-request-id', REQUEST_ID, ...verdict.slice(6)]
}

const NAMED = ['User-Agent', 'curl/8.5.0']

/** Writes the fields of a visitor's request. It has a user agent where `fields` have none. */
export function from(visitor: Visitor, ...fields: readonly string[]): readonly string[] {
  const isNamed = fields.some((field) => field.toLowerCase() === 'user-agent')
  return ['X-Forwarded-For', visitor.address, ...(isNamed ? [] : NAMED), ...fields]
}
