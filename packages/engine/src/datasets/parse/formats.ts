import { SallyportError } from '@sallyport/core'
import type { EntryFormat } from '@sallyport/data/sources'
import { everyString, type JsonPath, valuesAt } from './json-paths.ts'
import { linesOf } from './lines.ts'

/** The entries of a list as they are written: an address, a CIDR, or `first-last`. Nothing is judged yet. */
export interface WrittenEntries {
  readonly entries: Iterable<string>
  /** The services that the list names, where it names several, and of each entry the number of its service, from 1. */
  readonly services?: readonly string[] | undefined
  readonly serviceOf?: readonly number[] | undefined
  /** When the list was made, where it says so, in milliseconds since the epoch. */
  readonly made?: number | undefined
}

/** Takes the entry out of a line. Comments and empty lines are gone by then. */
type EntryOf = (line: string) => string

const LINE_FORMATS: Partial<Readonly<Record<EntryFormat, EntryOf>>> = {
  /** One address or CIDR a line, as in `.txt` and `.netset` files. */
  text: (line) => line,
  /** `192.0.2.1<tab>10`: an address and what is said of it. */
  'first-field': (line) => line.split(/\s/, 1)[0] as string,
  /** `192.0.2.1:8080`, `[2001:db8::1]:8080`. */
  'host-port': withoutPort,
  /** `192.0.2.1;Organisation;1.0` under a head. */
  semicolon: (line) => field(line, ';', 0),
  /** RFC 8805: `192.0.2.0/24,DE,DE-BE,Berlin,`. */
  geofeed: (line) => field(line, ',', 0),
  /** `192.0.2.0,192.0.2.255,…`, both ends inclusive. */
  'range-csv': (line) => `${field(line, ',', 0)}-${field(line, ',', 1)}`,
}

/** Heads of CSV files, which are no entries. */
const HEAD = /^"?(ip|ip_address|ip_prefix|prefix|cidr|network|start)"?[,;]/i

/** The services of gluetun's list whose servers are also the addresses that sites see, or stand in one row with them. */
const GLUETUN = [
  'airvpn',
  'cyberghost',
  'expressvpn',
  'fastestvpn',
  'hidemyass',
  'ipvanish',
  'ivpn',
  'mullvad',
  'nordvpn',
  'privado',
  'perfect privacy',
  'private internet access',
  'privatevpn',
  'purevpn',
  'slickvpn',
  'surfshark',
  'torguard',
  'vpn unlimited',
  'vyprvpn',
  'wevpn',
  'windscribe',
]

/** Documents: the paths of the entries, and of the time. */
const DOCUMENT_FORMS: Partial<
  Readonly<
    Record<
      EntryFormat,
      { readonly entries: readonly JsonPath[]; readonly made?: JsonPath | undefined; form?: EntryOf | undefined }
    >
  >
> = {
  aws: { entries: ['prefixes.*.ip_prefix', 'ipv6_prefixes.*.ipv6_prefix'], made: 'createDate' },
  /** The rows of one service out of the same document. */
  'aws-route53-health': {
    entries: [
      'prefixes.*[service=ROUTE53_HEALTHCHECKS].ip_prefix',
      'ipv6_prefixes.*[service=ROUTE53_HEALTHCHECKS].ipv6_prefix',
    ],
    made: 'createDate',
  },
  'aws-origin-facing': {
    entries: [
      'prefixes.*[service=CLOUDFRONT_ORIGIN_FACING].ip_prefix',
      'ipv6_prefixes.*[service=CLOUDFRONT_ORIGIN_FACING].ipv6_prefix',
    ],
    made: 'createDate',
  },
  google: { entries: ['prefixes.*.ipv4Prefix', 'prefixes.*.ipv6Prefix'], made: 'creationTime' },
  azure: { entries: ['values.*.properties.addressPrefixes.*'] },
  oracle: { entries: ['regions.*.cidrs.*.cidr'], made: 'last_updated_timestamp' },
  vultr: { entries: ['subnets.*.ip_prefix'], made: 'updated' },
  fastly: { entries: ['addresses.*', 'ipv6_addresses.*'] },
  // The other members hold keys, domains and texts.
  github: {
    entries: ['hooks', 'web', 'api', 'git', 'github_enterprise_importer', 'packages', 'pages', 'importer', 'actions']
      .concat('actions_macos', 'codespaces', 'copilot')
      .map((service) => `${service}.*`),
  },
  onionoo: {
    entries: ['relays.*.exit_addresses.*', 'relays.*.or_addresses.*'],
    made: 'relays_published',
    form: withoutPort,
  },
  mullvad: { entries: ['*.ipv4_addr_in', '*.ipv6_addr_in'] },
  nordvpn: { entries: ['*.station', '*.ips.*.ip.ip'] },
  pia: { entries: ['regions.*.servers.*.*.ip'] },
  ivpn: { entries: ['wireguard.*.hosts.*.host', 'openvpn.*.hosts.*.host', 'openvpn.*.ip_addresses.*'] },
  airvpn: {
    entries: [1, 2, 3, 4].flatMap((entry) => [`servers.*.ip_v4_in${entry}`, `servers.*.ip_v6_in${entry}`]),
  },
  monosans: { entries: ['*.exit_ip'] },
  ipverse: { entries: ['services.*.ipv4.*', 'services.*.ipv6.*'] },
}

/**
 * The entries of a list in one of the known formats. Throws `corrupt_data` naming the file for a document that is not
 * JSON; anything else that is wrong shows when the entries are read.
 */
export function writtenEntries(bytes: Buffer, format: EntryFormat, path: string): WrittenEntries {
  const entryOf = LINE_FORMATS[format]
  if (entryOf !== undefined) return { entries: lineEntries(bytes, entryOf) }
  if (format === 'spamhaus-drop') return { entries: jsonLines(bytes, 'cidr') }
  const text = bytes.toString('utf8')
  const document = parseJson(format === 'pia' ? withoutSignature(text) : text, path)
  // In a document whose form is not known, what looks like an address or a prefix is an entry.
  if (format === 'json')
    return { entries: everyString(document).filter((value) => /^[\da-f:.]+(\/\d+)?$/i.test(value)) }
  if (format === 'gluetun') return serverEntries(document)
  const { entries, made, form = (value: string) => value } = DOCUMENT_FORMS[format] ?? { entries: [] }
  const time = made === undefined ? undefined : timeOf(valuesAt(document, made)[0])
  return {
    entries: entries.flatMap((at) => valuesAt(document, at)).map((value) => form(String(value))),
    made: time,
  }
}

/** Proton VPN is left out: its addresses here are where clients enter, which no site ever sees. */
function serverEntries(document: unknown): WrittenEntries {
  const found = GLUETUN.map((service) => valuesAt(document, `${service}.servers.*.ips.*`).map(String))
  return {
    entries: found.flat(),
    services: GLUETUN,
    serviceOf: found.flatMap((entries, service) => entries.map(() => service + 1)),
  }
}

function* lineEntries(bytes: Buffer, entryOf: EntryOf): Generator<string> {
  for (const line of contentLines(bytes)) yield entryOf(line)
}

/** Lines with something on them; `#`, `;` and `//` begin a comment. The head of a CSV file is left out. */
export function* contentLines(bytes: Buffer): Generator<string> {
  let isFirst = true
  for (const line of linesOf(bytes)) {
    const content = (line.split('#', 1)[0] as string).trim()
    const isComment = content === '' || content.startsWith(';') || content.startsWith('//')
    if (isComment || (isFirst && HEAD.test(content))) continue
    isFirst = false
    yield content
  }
}

/** One JSON object a line; those of another kind, such as the last line's metadata, have no such member. */
function* jsonLines(bytes: Buffer, member: string): Generator<string> {
  for (const line of linesOf(bytes)) {
    if (line.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      // Not empty: a line that cannot be read is to count as a bad one.
      yield line
      continue
    }
    const [found] = valuesAt(value, member)
    if (found !== undefined) yield String(found)
    else if (valuesAt(value, 'type')[0] !== 'metadata') yield line
  }
}

export function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SallyportError('corrupt_data', `${path}: not a JSON document, or not a whole one`)
  }
}

/** The server list of Private Internet Access is one line of JSON, an empty line and a signature. */
function withoutSignature(text: string): string {
  const end = text.indexOf('\n\n')
  return end === -1 ? text : text.slice(0, end)
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(text)
  if (bracketed !== null) return bracketed[1] as string
  return text.replace(/^([^:]+):\d+$/, '$1')
}

/** A field of a line of a simple CSV, without its quotes. */
export function field(line: string, separator: ',' | ';', position: number): string {
  return (line.split(separator)[position] ?? '').trim().replace(/^"(.*)"$/, '$1')
}

/** `2026-11-20T01:02:03…`, `2026-11-20 01:02:03`, `2026-11-20-01-02-03`, all UTC. */
function timeOf(written: unknown): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T -](\d\d)[:-](\d\d)[:-](\d\d)/.exec(String(written))
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
