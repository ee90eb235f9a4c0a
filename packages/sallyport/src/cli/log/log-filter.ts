import {
  ACTIONS,
  createPrefixSet,
  parseAddress,
  parseDuration,
  parseHostOrPrefix,
  parsePathPattern,
} from '@sallyport/core'
import type { LogLine } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { createParser } from '../settings/option-parser.ts'
import { isRequest, type LogEntry } from './entry.ts'

type Filter = (line: LogLine) => boolean

const FILTERS = ['action', 'rule', 'class', 'network', 'client', 'path', 'status'] as const

/** Selects lines of the log; an absent option selects all. */
export interface FilterOptions extends Readonly<Partial<Record<(typeof FILTERS)[number], Filter>>> {
  readonly trial?: true | undefined
  readonly since?: number | undefined
  readonly audit?: true | undefined
}

export function withFilters(command: Command): Command {
  return command
    .option('--action <actions>', `${ACTIONS.join(', ')}; comma-separated`, parseActions)
    .option('--trial', 'requests for which a dry run would be stricter')
    .option('--rule <id>', 'decided by this rule, or matched by its dry run, or solutions of its challenge', parseRule)
    .option('--class <class>', 'client class: human, ai_agent …', parseText('class'))
    .option('--network <class>', 'network class: vpn, tor, hosting …', parseText('networkClass'))
    .option('--client <address>', 'client address or CIDR, as in the log', parseClient)
    .option('--path <pattern>', 'path pattern, as in a policy: /admin/**', parsePath)
    .option('--status <status>', 'response status: 403, 5xx', parseStatus)
    .addOption(new Option('--since <time>', 'start: 15m, 24h, 7d, or an ISO 8601 time').argParser(parseSince))
    .option('--audit', 'only audit entries of operators')
}

export function createFilter({ trial, since, audit, ...options }: FilterOptions): (entry: LogEntry) => boolean {
  const filters = FILTERS.flatMap((name) => options[name] ?? [])
  if (trial) filters.push((line) => line.trial !== undefined)
  return (entry) => {
    if (since !== undefined && Date.parse(entry.time) < since) return false
    if (!isRequest(entry)) return audit === true || filters.length === 0
    return !audit && filters.every((passes) => passes(entry))
  }
}

/** Counts a solution as its challenge, and a challenge that could not be shown as a refusal, as metrics and reports do. */
function isOfAction({ action, challenge }: LogLine, wanted: string): boolean {
  if (action === wanted) return true
  return (wanted === 'challenge' && challenge !== undefined) || (wanted === 'block' && challenge === 'program')
}

const parseActions = createParser(
  (text): Filter | undefined => {
    const actions = text.split(',').map((action) => action.trim())
    const isKnown = actions.every((action) => ACTIONS.some((known) => known === action))
    return isKnown ? (line) => actions.some((one) => isOfAction(line, one)) : undefined
  },
  `The value must be one or more of ${ACTIONS.join(', ')}.`,
)

function parseRule(id: string): Filter {
  return ({ rule, trialRule, challengeRule }) => [rule, trialRule, challengeRule].includes(id)
}

function parseText(member: 'class' | 'networkClass'): (text: string) => Filter {
  return (text) => (line) => line[member] === text
}

/** Parses a client. Hashed addresses are compared as text. */
function parseClient(text: string): Filter {
  const prefix = parseHostOrPrefix(text)
  if (prefix === undefined) return ({ client = '' }) => client === text
  const clients = createPrefixSet([prefix])
  return ({ client = '' }) => {
    const address = parseAddress(client.replace(/\/.*/, ''))
    return address !== undefined && clients.has(address)
  }
}

function parsePath(text: string): Filter {
  const pattern = parsePathPattern(text)
  return ({ path }) => pattern(path, true)
}

const parseStatus = createParser((text): Filter | undefined => {
  if (!/^[1-5](?:\d\d|xx)$/.test(text)) return undefined
  const start = text.replace('xx', '')
  return ({ status }) => String(status).startsWith(start)
}, 'The value must be a status such as 403 or 4xx.')

/** Parses `7d`, or a time in ISO 8601, to milliseconds since the epoch. */
export const parseSince = createParser((text) => {
  const duration = parseDuration(text)
  const at = duration === undefined ? Date.parse(text) : Date.now() - duration
  return Number.isNaN(at) ? undefined : at
}, 'Use a number with s, m, h or d, or an ISO 8601 time.')
