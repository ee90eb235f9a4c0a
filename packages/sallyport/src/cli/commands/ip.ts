import {
  DAY_MS,
  formatHostOrPrefix,
  NETWORK_CLASSES,
  type Prefix,
  type PrefixObservation,
  parseDuration,
  parseHostOrPrefix,
} from '@sallyport/core'
import { type Override, openOverrides } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { audited } from '../settings/audit.ts'
import { createParser } from '../settings/option-parser.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

interface SetOptions extends JsonOptions, Pick<Override, 'provider' | 'note'> {
  readonly class: Override['networkClass']
  readonly ttl?: number | undefined
}

export function addIpCommands(program: Command, terminal: Terminal): void {
  const ip = program.command('ip').description('override the network class of addresses and CIDRs')

  withJsonOptions(ip.command('set').description('set the class of an address or CIDR; running processes apply it'))
    .argument('<address>', 'IPv4 or IPv6 address, or CIDR', parseRange)
    .addOption(new Option('--class <class>', 'network class').choices(NETWORK_CLASSES).makeOptionMandatory())
    .addOption(new Option('--ttl <time>', 'duration: 90s, 30m, 12h, 7d (default: until unset)').argParser(parseTtl))
    .option('--provider <name>', 'provider name')
    .option('--note <text>', 'note, shown in the list')
    .action(async (prefix: Prefix, { class: networkClass, ttl: ttlMs, provider, note, ...options }: SetOptions) => {
      const set = await audited(options, 'ip set', formatObservation, terminal, (config) =>
        using(openOverrides(config), ({ overrides }) => overrides.set(prefix, { networkClass, ttlMs, provider, note })),
      )
      const { until = 'you unset it', ...rest } = formatObservation(set)
      terminal.out(options.json ? json(formatObservation(set)) : `${rest.address} is ${rest.class} until ${until}.`)
    })

  withJsonOptions(ip.command('unset').description('remove the class that you set for an address or CIDR'))
    .argument('<address>', 'IPv4 or IPv6 address, or CIDR', parseRange)
    .action(async (prefix: Prefix, options: JsonOptions) => {
      const text = formatHostOrPrefix(prefix)
      await audited(options, 'ip unset', { address: text }, terminal, (config) =>
        using(openOverrides(config), async ({ overrides }) => overrides.unset(prefix)),
      )
      terminal.out(options.json ? json({ address: text, unset: true }) : `${text} is classified by data again.`)
    })

  withJsonOptions(ip.command('list').description('list classes that were set or derived from reverse names')).action(
    async (options: JsonOptions) => {
      const listed = await using(openOverrides(readConfig(options)), ({ overrides }) => overrides.list())
      const rows = listed.map(formatObservation)
      if (options.json) return terminal.out(json(rows))
      if (rows.length === 0) return terminal.out('No class is set.')
      const cells = rows.map((row) => [
        row.address,
        row.class,
        row.origin,
        row.provider,
        row.until ?? 'unset',
        row.note,
      ])
      terminal.out(columns(cells, ['address', 'class', 'by', 'provider', 'until', 'note']))
    },
  )
}

function formatObservation({ prefix, networkClass, origin, provider, setAt, expiresAt, note }: PrefixObservation) {
  return {
    address: formatHostOrPrefix(prefix),
    class: networkClass,
    origin,
    provider,
    set: new Date(setAt).toISOString(),
    ...(expiresAt === undefined ? {} : { until: new Date(expiresAt).toISOString() }),
    note,
  }
}

const parseRange = createParser(parseHostOrPrefix, 'The value is not an IPv4 or IPv6 address or CIDR.')

/** Limits a lifetime to ten years, so that its end stays a valid date. */
const LONGEST_MS = 3_660 * DAY_MS

const parseTtl = createParser((text) => {
  const milliseconds = parseDuration(text) ?? 0
  return milliseconds > 0 && milliseconds <= LONGEST_MS ? milliseconds : undefined
}, 'The time must be a number with s, m, h or d, at most 3660d.')
