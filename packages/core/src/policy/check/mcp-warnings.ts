import { MCP_METHODS } from '../../mcp/methods.ts'
import { suggestion } from '../../nearest-word.ts'
import type { PolicyFault } from '../language/fault.ts'
import { listName } from '../language/surroundings.ts'
import { compilePatterns } from '../language/text-pattern.ts'
import type { Rule } from '../policy.ts'
import { listCountKeys } from './counts-by-user.ts'

/** Warns of rules about calls of MCP that match no known method, or that read more bodies than they need. */
export function mcpWarnings(rule: Rule, index: number): readonly PolicyFault[] {
  const { id, match } = rule
  const path = ['rules', index, 'match']
  const given = [
    { path: [...path, 'mcp', 'method'], patterns: match.mcp?.method },
    { path: [...path, 'not', 'mcp', 'method'], patterns: match.not?.mcp?.method },
  ]
  const unknown = given.flatMap(({ path, patterns = [] }) =>
    patterns.flatMap((pattern, at): readonly PolicyFault[] => {
      if (listName(pattern) !== undefined || MCP_METHODS.some((method) => compilePatterns([pattern])(method))) return []
      const message = `no MCP method matches "${pattern}"${suggestion(pattern, MCP_METHODS)}`
      return [{ path: [...path, at], rule: id, message }]
    }),
  )
  if (!readsCalls(rule) || match.path !== undefined) return unknown
  const message =
    'the rule reads every JSON body of a POST and rejects bodies above 64 KiB. Add the path of the MCP server'
  return [...unknown, { path, rule: id, message }]
}

export function readsCalls(rule: Rule): boolean {
  return rule.match.mcp !== undefined || rule.match.not?.mcp !== undefined || listCountKeys(rule).includes('tool')
}
