import type { InspectedPass } from './challenge.ts'
import type { McpRequest } from './mcp.ts'

/** Carries an HTTP request as its server received it, without anything of a framework. An adapter builds it, and nothing changes it. */
export interface InspectionRequest {
  /** The response, the log line and errors have this id; absent for a request that did not come here. */
  readonly id?: string | undefined
  /** Socket address of the peer; never read from a header. '' when the socket is already closed. */
  readonly peer: string
  readonly method: string
  /** The target is as received, before a mount strips it. */
  readonly target: string
  readonly scheme: 'http' | 'https' | 'unknown'
  /** HTTP has one of the versions '1.0', '1.1' and '2.0'. */
  readonly httpVersion: string
  /** `rawHeaders`: name, value, name, value …; order and case are kept because they are evidence. */
  readonly fields: readonly string[]
  /** Names the TLS fingerprint of the client. */
  readonly ja4?: string | undefined
  /** A trusted proxy named the JA4 in this header; absent where the client's TLS ended in this process. */
  readonly ja4Header?: string | undefined
  /** The client's SETTINGS ask for this window of a stream, in bytes (RFC 9113 section 6.5.2). */
  readonly http2Window?: number | undefined
  /** Identifies the visitor for the application by id and plan. Never read from a header. */
  readonly user?: string | undefined
  readonly plan?: string | undefined
  /** Takes the place of the cookie where a request is only described. Never read from a header. */
  readonly pass?: InspectedPass | undefined
  /** Lists its calls, where rules read them and the request goes to an MCP server. */
  readonly mcp?: McpRequest | undefined
}
