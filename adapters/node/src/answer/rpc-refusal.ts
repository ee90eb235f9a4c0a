import type { McpRequest } from '@sallyport/core'

/** Holds what a refusal says to a client of MCP. */
interface Refused {
  readonly code: string
  readonly status: number
  readonly rpcCode?: number | undefined
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Writes a refusal of a request to an MCP server as an error of JSON-RPC (2.0 section 5.1). The code is the HTTP status where MCP defines
 * none: JSON-RPC reserves a range, and new codes stay outside it. Each call of a batch that waits for an answer gets its own error.
 */
export function rpcRefusal(
  { code, status, rpcCode = status, message, headers }: Refused,
  { ids, isBatch }: McpRequest,
  details: object,
): string {
  const { 'retry-after': wait } = headers
  const data = { ...details, error: code, ...(wait !== undefined && { retryAfter: Number(wait) }) }
  const error = { code: rpcCode, message, data }
  // No id can be answered where no call waits for an answer (MCP 2026-07-28).
  const answers = ids.map((id) => ({ jsonrpc: '2.0', id, error }))
  return JSON.stringify(isBatch && answers.length > 0 ? answers : (answers[0] ?? { jsonrpc: '2.0', error }))
}
