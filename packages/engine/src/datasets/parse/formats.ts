import { isRecord, SallyportError } from '@sallyport/core'
import type { EntryFormat } from '@sallyport/data/sources'
import { everyString, type JsonPath, tryJson, valuesAt } from './json-paths.ts'
import { readLines } from './lines.ts'

/** The entries of a list as they are written: an address, a CIDR, or `first-last`. They are not checked yet. */
export interface WrittenEntries {
  readonly entries: Iterable<string>
  /** Names the services of a list that has several; `serviceNumbers` has the number of each entry's service, from 1. */
  readonly services?: readonly string[] | undefined
  readonly serviceNumbers?: readonly number[] | undefined
  /** When the list was made, if it says so, in milliseconds since the epoch. */
  readonly made?: number | undefined
}

/** Reads the entry of a line. Comments and empty lines are gone by then. */
type EntryReader = (line: string) => string

const LINE_FORMATS: Partial<Readonly<Record<EntryFormat, EntryReader>>> = {
  /** One address or CIDR a line, as in `.txt` and `.netset` files. */
  text: (line) => line,
  /** `192.0.2.1<tab>10`: an address and what is said of it. */
  'first-field': (line) => line.split(/\s/, 1)[0] as string,
  /** `192.0.2.1:8080`, `[2001:db8::1]:8080`. */
  'host-port': dropPort,
  /** A line is `192.0.2.1;Organisation;1.0`, below a head. */
  semicolon: (line) => field(line, ';', 0),
  /** RFC 8805 has lines such as `192.0.2.0/24,DE,DE-BE,Berlin,`. */
  geofeed: (line) => field(line, ',', 0),
  /** A line is `192.0.2.0,192.0.2.255,…`, with both ends inclusive. */
  'range-csv': (line) => `${field(line, ',', 0)}-${field(line, ',', 1)}`,
}

/** Heads of CSV files, which are no entries. */
const HEAD = /^"?(ip|ip_address|ip_prefix|prefix|cidr|network|start)"?[,;]/i

/** A service whose addresses here are where clients enter, and no site sees them. */
const ENTRIES_ALONE = 'protonvpn'
/** In seconds. Servers of a service that was not looked at for so long after the others have other tenants. */
const MAX_LAG = 2 * 365 * 86_400

/** The paths at which a document has its entries and its time. */
interface DocumentForm {
  readonly entries: readonly JsonPath[]
  readonly made?: JsonPath
  readonly form?: EntryReader
}

const DOCUMENT_FORMS: Partial<Readonly<Record<EntryFormat, DocumentForm>>> = {
  aws: selectAws('*'),
  'aws-route53-health': selectAws('*[service=ROUTE53_HEALTHCHECKS]'),
  'aws-origin-facing': selectAws('*[service=CLOUDFRONT_ORIGIN_FACING]'),
  google: { entries: ['prefixes.*.ipv4Prefix', 'prefixes.*.ipv6Prefix'], made: 'creationTime' },
  azure: { entries: ['values.*.properties.addressPrefixes.*'] },
  oracle: { entries: ['regions.*.cidrs.*.cidr'], made: 'last_updated_timestamp' },
  vultr: { entries: ['subnets.*.ip_prefix'], made: 'updated' },
  fastly: { entries: ['addresses.*', 'ipv6_addresses.*'] },
  // The other members contain keys, domains and texts.
  github: {
    entries: ['hooks', 'web', 'api', 'git', 'github_enterprise_importer', 'packages', 'pages', 'importer', 'actions']
      .concat('actions_macos', 'codespaces', 'copilot')
      .map((service) => `${service}.*`),
  },
  onionoo: {
    entries: ['relays.*.exit_addresses.*', 'relays.*.or_addresses.*'],
    made: 'relays_published',
    form: dropPort,
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

/** Selects the rows of a service, or all, from the document of AWS. */
function selectAws(rows: string): DocumentForm {
  return { entries: [`prefixes.${rows}.ip_prefix`, `ipv6_prefixes.${rows}.ipv6_prefix`], made: 'createDate' }
}

/**
 * Returns the entries of a list in one of the known formats. Throws `corrupt_data` naming the file for a document that is not JSON; reading
 * the entries reveals any other fault.
 */
export function writtenEntries(bytes: Buffer, format: EntryFormat, path: string): WrittenEntries {
  const readEntry = LINE_FORMATS[format]
  if (readEntry !== undefined) return { entries: lineEntries(bytes, readEntry) }
  if (format === 'spamhaus-drop') return { entries: jsonLines(bytes, 'cidr') }
  const text = bytes.toString('utf8')
  const document = parseJson(format === 'pia' ? dropSignature(text) : text, path)
  // In a document whose form is not known, what looks like an address or a prefix is an entry.
  if (format === 'json') return { entries: everyString(document).filter((value) => ADDRESS_LIKE.test(value)) }
  if (format === 'gluetun') return serverEntries(document)
  const { entries, made, form = (value: string) => value } = DOCUMENT_FORMS[format] ?? { entries: [] }
  const time = made === undefined ? undefined : readTime(valuesAt(document, made)[0])
  return {
    entries: entries.flatMap((at) => valuesAt(document, at)).map((value) => form(String(value))),
    ...(time === undefined ? {} : { made: time }),
  }
}

const ADDRESS_LIKE = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4}:[\da-f:.]{0,41})(?:\/\d{1,3})?$/i

/** Lists the servers of many services. Each service has its own time. */
function serverEntries(document: unknown): WrittenEntries {
  const read = Object.entries(isRecord(document) ? document : {}).map(([service, value]) => {
    const ips = valuesAt(value, 'servers.*.ips.*').map(String)
    return { service, ips, seconds: Number(valuesAt(value, 'timestamp')[0] ?? Number.NaN) }
  })
  const newest = Math.max(...read.map(({ seconds }) => seconds).filter(Number.isFinite))
  const found = read.filter(({ service, seconds }) => service !== ENTRIES_ALONE && !(seconds < newest - MAX_LAG))
  return {
    entries: found.flatMap(({ ips }) => ips),
    services: found.map(({ service }) => service),
    serviceNumbers: found.flatMap(({ ips }, service) => ips.map(() => service + 1)),
    ...(Number.isFinite(newest) && { made: newest * 1000 }),
  }
}

function* lineEntries(bytes: Buffer, readEntry: EntryReader): Generator<string> {
  for (const line of contentLines(bytes)) yield readEntry(line)
}

/** Yields the lines that have content; `#`, `;` and `//` begin a comment. Leaves out the head of a CSV file. */
export function* contentLines(bytes: Buffer): Generator<string> {
  let isFirst = true
  for (const line of readLines(bytes)) {
    const content = (line.split('#', 1)[0] as string).trim()
    const isComment = content === '' || content.startsWith(';') || content.startsWith('//')
    if (isComment || (isFirst && HEAD.test(content))) continue
    isFirst = false
    yield content
  }
}

/** Yields the member of one JSON object a line. Objects of another kind, such as the last line's metadata, do not have it. */
function* jsonLines(bytes: Buffer, member: string): Generator<string> {
  for (const line of readLines(bytes)) {
    if (line.trim() === '') continue
    const value = tryJson(line)
    const [found] = valuesAt(value, member)
    if (found !== undefined) yield String(found)
    // A line that cannot be read is to count as a bad one.
    else if (valuesAt(value, 'type')[0] !== 'metadata') yield line
  }
}

export function parseJson(text: string, path: string): unknown {
  const document = tryJson(text)
  if (document !== undefined) return document
  throw new SallyportError('corrupt_data', `${path}: the file is not a complete JSON document`)
}

/** Removes the signature of a Private Internet Access list, which follows one line of JSON and an empty line. */
function dropSignature(text: string): string {
  const end = text.indexOf('\n\n')
  return end === -1 ? text : text.slice(0, end)
}

function dropPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(text)
  if (bracketed !== null) return bracketed[1] as string
  return text.replace(/^([^:]+):\d+$/, '$1')
}

/** Reads a field of a line of a simple CSV, without its quotes. */
export function field(line: string, separator: ',' | ';', position: number): string {
  return (line.split(separator)[position] ?? '').trim().replace(/^"(.*)"$/, '$1')
}

/** Reads a UTC time: `2026-11-20T01:02:03…`, `2026-11-20 01:02:03` or `2026-11-20-01-02-03`. */
function readTime(written: unknown): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T -](\d\d)[:-](\d\d)[:-](\d\d)/.exec(String(written))
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
