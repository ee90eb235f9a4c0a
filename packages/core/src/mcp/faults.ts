import type { McpFault } from '../values/mcp.ts'

/* Codes come from JSON-RPC 2.0 section 5.1 and MCP 2026-07-28: new ones lie outside of both ranges, and equal the HTTP status. */

/** The headers do not repeat the body (`HeaderMismatch`). */
export function mismatch(message: string): McpFault {
  return { status: 400, code: -32020, message: `Header mismatch: ${message}.` }
}

export const PARSE_ERROR: McpFault = {
  status: 400,
  code: -32700,
  message: 'Parse error: the body is not JSON in UTF-8.',
}

export function invalidRequest(message: string): McpFault {
  return { status: 400, code: -32600, message: `Invalid Request: ${message}.` }
}

export const MISSING = {
  too_large: { status: 413, code: 413, message: 'The body is too large to be checked: 65536 bytes at most.' },
  slow: { status: 408, code: 408, message: 'The body took too long.' },
} as const satisfies Readonly<Record<string, McpFault>>

export const UNREADABLE: McpFault = {
  status: 415,
  code: 415,
  message: 'The body must be JSON in UTF-8 without a Content-Encoding.',
}
