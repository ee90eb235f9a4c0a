import { MCP_METHODS } from '../../mcp/methods.ts'
import { suggestion } from '../../nearest-word.ts'
import { type Fault, faultsAt } from '../language/fault.ts'
import { listName } from '../language/surroundings.ts'
import { compilePatterns } from '../language/text-pattern.ts'
import { collectFaults } from '../language/values.ts'
import type { Rule } from '../policy.ts'
import type { Match } from '../words/match-words.ts'
import { listCountKeys } from './counts-by-user.ts'

/** Warns of rules about calls of MCP that match no known method, or that read more bodies than they need. */
export function mcpWarnings(rule: Rule): readonly Fault[] {
  const { match } = rule
  const unknown = [...unknownMethods(match), ...faultsAt(['not'], unknownMethods(match.not))]
  const message =
    'the rule reads every JSON body of a POST and rejects bodies above 64 KiB. Add the path of the MCP server'
  const isWide = readsCalls(rule) && match.path === undefined
  return faultsAt(['match'], isWide ? [...unknown, { path: [], message }] : unknown)
}

function unknownMethods({ mcp }: Match = {}): readonly Fault[] {
  const faults = collectFaults(mcp?.method ?? [], (pattern) =>
    listName(pattern) !== undefined || MCP_METHODS.some((method) => compilePatterns([pattern])(method))
      ? undefined
      : `no MCP method matches "${pattern}"${suggestion(pattern, MCP_METHODS)}`,
  )
  return faultsAt(['mcp', 'method'], faults)
}

export function readsCalls(rule: Rule): boolean {
  return rule.match.mcp !== undefined || rule.match.not?.mcp !== undefined || listCountKeys(rule).includes('tool')
}
