import type { McpCall, McpRequest } from '../values/mcp.ts'

/** Writes a call as logs and tests have it: `tools/call search`. */
export function formatCall({ method, name }: McpCall): string {
  return name === undefined ? method : `${method} ${name}`
}

/** Reads calls that `formatCall` wrote. */
export function parseCalls(texts: readonly string[]): McpRequest {
  const calls = texts.map((text): McpCall => {
    const space = text.indexOf(' ')
    return space < 0 ? { method: text } : { method: text.slice(0, space), name: text.slice(space + 1) }
  })
  return { calls, ids: [], isBatch: calls.length > 1 }
}
