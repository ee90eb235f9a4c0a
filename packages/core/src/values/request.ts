import type { InspectedPass } from './challenge.ts'

/**
 * The one value that travels in: an HTTP request as its server received it, known to no framework. Built by an
 * adapter, never changed.
 */
export interface InspectionRequest {
  /** Id in its answer, its log line and its errors; absent for a request that did not come here. */
  readonly id?: string | undefined
  /** Socket address of the peer; never read from a header. '' when the socket is already gone. */
  readonly peer: string
  readonly method: string
  /** Request target as received, before a mount strips it. */
  readonly target: string
  readonly scheme: 'http' | 'https' | 'unknown'
  /** '1.0', '1.1', '2.0'. */
  readonly httpVersion: string
  /** `rawHeaders`: name, value, name, value …; order and case are kept because they are evidence. */
  readonly fields: readonly string[]
  readonly ja4?: string | undefined
  /** Window of a stream that the client's SETTINGS ask for, in bytes (RFC 9113 section 6.5.2). */
  readonly http2Window?: number | undefined
  /** The visitor as the application identifies it: id and plan. Never read from a header. */
  readonly user?: string | undefined
  readonly plan?: string | undefined
  /** The pass of a request that is only described, in place of its cookie. Never read from a header. */
  readonly pass?: InspectedPass | undefined
}
