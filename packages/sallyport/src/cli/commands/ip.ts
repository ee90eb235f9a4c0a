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
import { type Command, InvalidArgumentError, Option } from 'commander'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

interface SetOptions extends JsonOptions {
  readonly class: Override['networkClass']
  readonly ttl?: number | undefined
  readonly provider?: string | undefined
  readonly note?: string | undefined
}

/** `sallyport ip set | unset | list` */
export function addIpCommands(program: Command, terminal: Terminal): void {
  const ip = program.command('ip').description('your own classes of addresses and prefixes, which override all data')

  withJsonOptions(ip.command('set').description('set the class of an address or a CIDR; a running process follows'))
    .argument('<address>', 'IPv4 or IPv6, or a CIDR of either', parseRange)
    .addOption(new Option('--class <class>', 'network class').choices(NETWORK_CLASSES).makeOptionMandatory())
    .addOption(new Option('--ttl <time>', 'duration: 90s, 30m, 12h, 7d (default: until unset)').argParser(parseTtl))
    .option('--provider <name>', 'brand of the service')
    .option('--note <text>', 'reason, for readers of the list')
    .action(async (prefix: Prefix, { class: networkClass, ttl, provider, note, ...options }: SetOptions) => {
      const override: Override = {
        networkClass,
        ttlMs: ttl,
        provider,
        note,
      }
      const config = readConfig(options)
      const set = await audited(config, { what: 'ip set', details: shown }, terminal, () =>
        using(openOverrides(config), ({ overrides }) => overrides.set(prefix, override)),
      )
      const { until = 'it is unset', ...rest } = shown(set)
      terminal.out(options.json ? json(shown(set)) : `${rest.address} is ${rest.class} until ${until}.`)
    })

  withJsonOptions(ip.command('unset').description('remove the class of an address or a CIDR'))
    .argument('<address>', 'IPv4 or IPv6, or a CIDR of either', parseRange)
    .action(async (prefix: Prefix, options: JsonOptions) => {
      const [config, text] = [readConfig(options), formatHostOrPrefix(prefix)]
      await audited(config, { what: 'ip unset', details: { address: text } }, terminal, () =>
        using(openOverrides(config), async ({ overrides }) => overrides.unset(prefix)),
      )
      terminal.out(options.json ? json({ address: text, unset: true }) : `${text} is left to the data again.`)
    })

  withJsonOptions(ip.command('list').description('list classes in force, set or read from reverse names')).action(
    async (options: JsonOptions) => {
      const listed = await using(openOverrides(readConfig(options)), ({ overrides }) => overrides.list())
      const rows = listed.map(shown)
      if (options.json) return terminal.out(json(rows))
      if (rows.length === 0) return terminal.out('Nothing is set.')
      terminal.out(
        columns(
          printableValue(rows).map((row) => [
            row.address,
            row.class,
            row.origin,
            row.provider,
            row.until ?? 'unset',
            row.note,
          ]),
          ['address', 'class', 'by', 'provider', 'until', 'note'],
        ),
      )
    },
  )
}

/** An observation as JSON; times are ISO 8601, UTC. */
function shown({ prefix, networkClass, origin, provider, setAt, expiresAt, note }: PrefixObservation) {
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

function parseRange(text: string): Prefix {
  const prefix = parseHostOrPrefix(text)
  if (prefix === undefined) throw new InvalidArgumentError('It is not an IPv4 or IPv6 address, nor a CIDR of one.')
  return prefix
}

/** Ten years, so that the end stays a valid date. */
const LONGEST_MS = 3_660 * DAY_MS

function parseTtl(text: string): number {
  const milliseconds = parseDuration(text) ?? 0
  if (milliseconds <= 0 || milliseconds > LONGEST_MS) {
    throw new InvalidArgumentError('It is a number with s, m, h or d, at most 3660d.')
  }
  return milliseconds
}
