import { BlockList, isIPv6 } from 'node:net'
import { ACTIONS, formatAddress, parseAddress, parseDuration, parsePathPattern, parsePrefix } from '@sallyport/core'
import type { LogLine } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { isRequest, type LogEntry } from './entry.ts'

/** Which lines of the log are looked at; what is absent asks nothing. */
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
    .addOption(new Option('--action <actions>', `${ACTIONS.join(', ')}, with commas between`).argParser(parseActions))
    .option('--trial', 'requests that a rule on trial would have decided more strictly')
    .option('--rule <id>', 'decided by this rule, on trial by it, or a solution of its challenge')
    .option('--class <class>', 'of this class: human, ai_agent …')
    .option('--network <class>', 'from networks of this class: vpn, tor, hosting …')
    .addOption(
      new Option('--client <address>', 'from this address or CIDR, as it is in the log').argParser(parseClient),
    )
    .addOption(new Option('--path <pattern>', 'for this path, as in a policy: /admin/**').argParser(parsePath))
    .addOption(new Option('--status <status>', 'answered with this status: 403, 5xx').argParser(parseStatus))
    .addOption(new Option('--since <time>', 'from this time on: 15m, 24h, 7d, or ISO 8601').argParser(parseSince))
    .option('--audit', 'only actions of operators')
}

/** Whether a line passes all filters. */
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
 * A solution belongs to its challenge, whatever was decided about the path that it was sent to. A challenge that could not be shown
 * is a refusal, as in metrics and reports.
 */
function isOfAction({ action, challenge }: LogLine, wanted: string): boolean {
  if (action === wanted) return true
  return (wanted === 'challenge' && challenge !== undefined) || (wanted === 'block' && challenge === 'program')
}

function parseActions(text: string): readonly string[] {
  const actions = text.split(',').map((action) => action.trim())
  const known: readonly string[] = ACTIONS
  if (actions.every((action) => known.includes(action))) return actions
  throw new InvalidArgumentError(`It is one or more of ${ACTIONS.join(', ')}.`)
}

/** Hashed addresses are compared as they are written. */
function parseClient(text: string): ClientMatch {
  const address = parseAddress(text)
  const prefix = address === undefined ? parsePrefix(text) : { address, length: address.family === 4 ? 32 : 128 }
  if (prefix === undefined) return (client) => client === text
  const family = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')
  const network = formatAddress(prefix.address)
  const list = new BlockList()
  list.addSubnet(network, prefix.length, family(network))
  return (client) => {
    const [address = ''] = client.split('/', 1)
    return list.check(address, family(address))
  }
}

function parsePath(text: string): (path: string) => boolean {
  const pattern = parsePathPattern(text)
  return (path) => pattern(path, true)
}

function parseStatus(text: string): (status: number) => boolean {
  if (!/^[1-5](?:\d\d|xx)$/.test(text)) throw new InvalidArgumentError('It is a status as 403, or as 4xx.')
  const hundreds = Number(text[0])
  return text.endsWith('xx') ? (status) => Math.floor(status / 100) === hundreds : (status) => status === Number(text)
}

/** Milliseconds since the epoch of `7d` ago, or of a time in ISO 8601. */
export function parseSince(text: string): number {
  const duration = parseDuration(text)
  const at = duration === undefined ? Date.parse(text) : Date.now() - duration
  if (Number.isNaN(at)) throw new InvalidArgumentError('It is a number with s, m, h or d, or a time in ISO 8601.')
  return at
}
