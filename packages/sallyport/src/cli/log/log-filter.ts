import {
  ACTIONS,
  createPrefixSet,
  parseAddress,
  parseDuration,
  parseHostOrPrefix,
  parsePathPattern,
} from '@sallyport/core'
import type { LogLine } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { isRequest, type LogEntry } from './entry.ts'

/** Selects lines of the log; an absent option selects all. */
export interface FilterOptions {
  readonly action?: readonly string[] | undefined
  readonly trial?: true | undefined
  readonly rule?: string | undefined
  readonly class?: string | undefined
  readonly network?: string | undefined
  readonly client?: ClientMatch | undefined
  readonly path?: ((path: string) => boolean) | undefined
  readonly status?: ((status: number) => boolean) | undefined
  readonly since?: number | undefined
  readonly audit?: true | undefined
}

type ClientMatch = (client: string) => boolean

/** Adds the filters to a command that reads the log. */
export function withFilters(command: Command): Command {
  return command
    .addOption(new Option('--action <actions>', `${ACTIONS.join(', ')}; comma-separated`).argParser(parseActions))
    .option('--trial', 'requests for which a dry run would be stricter')
    .option('--rule <id>', 'decided by this rule, or matched by its dry run, or solutions of its challenge')
    .option('--class <class>', 'client class: human, ai_agent …')
    .option('--network <class>', 'network class: vpn, tor, hosting …')
    .addOption(new Option('--client <address>', 'client address or CIDR, as in the log').argParser(parseClient))
    .addOption(new Option('--path <pattern>', 'path pattern, as in a policy: /admin/**').argParser(parsePath))
    .addOption(new Option('--status <status>', 'response status: 403, 5xx').argParser(parseStatus))
    .addOption(new Option('--since <time>', 'start: 15m, 24h, 7d, or an ISO 8601 time').argParser(parseSince))
    .option('--audit', 'only audit entries of operators')
}

/** Creates a function that reports whether a line passes all filters. */
export function createFilter(options: FilterOptions): (entry: LogEntry) => boolean {
  const { action, rule, client, path, status, since } = options
  const aboutRequests = [action, options.trial, rule, options.class, options.network, client, path, status]
  const auditPasses = options.audit === true || aboutRequests.every((option) => option === undefined)
  return (entry) => {
    if (since !== undefined && Date.parse(entry.time) < since) return false
    if (!isRequest(entry)) return auditPasses
    if (options.audit) return false
    return (
      (action === undefined || action.some((one) => isOfAction(entry, one))) &&
      (options.trial === undefined || entry.trial !== undefined) &&
      (rule === undefined || [entry.rule, entry.trialRule, entry.challengeRule].includes(rule)) &&
      (options.class === undefined || entry.class === options.class) &&
      (options.network === undefined || entry.networkClass === options.network) &&
      (client === undefined || client(entry.client ?? '')) &&
      (path === undefined || path(entry.path)) &&
      (status === undefined || status(entry.status))
    )
  }
}

/**
 * A solution belongs to its challenge, whatever was decided about its path. A challenge that could not be shown is a refusal, as in metrics
 * and reports.
 */
function isOfAction({ action, challenge }: LogLine, wanted: string): boolean {
  if (action === wanted) return true
  return (wanted === 'challenge' && challenge !== undefined) || (wanted === 'block' && challenge === 'program')
}

function parseActions(text: string): readonly string[] {
  const actions = text.split(',').map((action) => action.trim())
  const known: readonly string[] = ACTIONS
  if (actions.every((action) => known.includes(action))) return actions
  throw new InvalidArgumentError(`The value must be one or more of ${ACTIONS.join(', ')}.`)
}

/** Parses a client. Hashed addresses are compared as text. */
function parseClient(text: string): ClientMatch {
  const prefix = parseHostOrPrefix(text)
  if (prefix === undefined) return (client) => client === text
  const clients = createPrefixSet([prefix])
  return (client) => {
    const address = parseAddress(client.replace(/\/.*/, ''))
    return address !== undefined && clients.has(address)
  }
}

function parsePath(text: string): (path: string) => boolean {
  const pattern = parsePathPattern(text)
  return (path) => pattern(path, true)
}

function parseStatus(text: string): (status: number) => boolean {
  if (!/^[1-5](?:\d\d|xx)$/.test(text)) throw new InvalidArgumentError('The value must be a status such as 403 or 4xx.')
  const hundreds = Number(text[0])
  return text.endsWith('xx') ? (status) => Math.floor(status / 100) === hundreds : (status) => status === Number(text)
}

/** Parses `7d`, or a time in ISO 8601, to milliseconds since the epoch. */
export function parseSince(text: string): number {
  const duration = parseDuration(text)
  const at = duration === undefined ? Date.parse(text) : Date.now() - duration
  if (Number.isNaN(at)) throw new InvalidArgumentError('Use a number with s, m, h or d, or an ISO 8601 time.')
  return at
}
