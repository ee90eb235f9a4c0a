import type { McpCall } from '../../values/mcp.ts'
import type { Surroundings } from '../language/surroundings.ts'
import { compilePatterns, patternFault } from '../language/text-pattern.ts'
import { namedTexts } from '../language/values.ts'
import { word } from './match-word.ts'

const CALLS = namedTexts(patternFault, {
  method: { description: 'MCP method patterns', example: ['tools/call'] },
  name: { description: 'Patterns of tools, prompts, resource URIs or task IDs', example: ['search', 'db_*'] },
})

type Calls = Parameters<typeof CALLS.faults>[0]

/** Holds conditions on the calls of a request to an MCP server. */
export const MCP_WORDS = {
  /** Both members must hold for one call. */
  mcp: word('MCP calls', CALLS, {
    asks: 'parts',
    mayLack: true,
    test(given, { action, surroundings }) {
      const matches = compileCalls(given, surroundings)
      const every = action === 'allow'
      return ({ mcp }, { parts }) => {
        if (mcp === undefined) return parts.mcp === 'unknown' ? undefined : false
        // No permission is given, and no refusal is escaped, by an unreadable call.
        if (mcp.fault !== undefined) return !every
        return every ? mcp.calls.length > 0 && mcp.calls.every(matches) : mcp.calls.some(matches)
      }
    },
  }),
}

export function compileCalls({ method, name }: Calls, surroundings: Surroundings): (call: McpCall) => boolean {
  const isMethod = method === undefined ? () => true : compilePatterns(method, surroundings)
  const isName = name === undefined ? undefined : compilePatterns(name, surroundings)
  return (call) => isMethod(call.method) && (isName === undefined || (call.name !== undefined && isName(call.name)))
}
