import { errorText, SallyportError } from '@sallyport/core'
import { parseWitness } from '@sallyport/ledger'
import { LibraryMissing, readTimestamps } from '@sallyport/ledger/timestamp'
import {
  CRAWLS_TYPE,
  type CrawlsReport,
  type EvidenceReport,
  ShapeError,
  type TimestampFindings,
  verifyCrawls,
  verifyEvidence,
} from '@sallyport/ledger/verify'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { jsonOption } from '../settings/settings.ts'
import { inputName, inputText } from '../terminal/input.ts'
import { printable } from '../terminal/printable.ts'
import { columns, ExitError, json, type Terminal } from '../terminal/terminal.ts'

interface VerifyOptions {
  readonly keys?: string | undefined
  readonly timestampCa?: string | undefined
  readonly witness?: readonly string[] | undefined
  readonly allowUnauthenticated?: true | undefined
  readonly json?: true | undefined
}

export function addEvidenceCommands(program: Command, terminal: Terminal): void {
  const evidence = program.command('evidence').description('verify signed evidence')

  evidence
    .command('verify')
    .description('verify evidence offline')
    .argument('<file>', 'evidence from GET /v1/provenance/export; - reads standard input')
    .option('--keys <file>', 'JWKS of the service, from GET /v1/provenance/keys')
    .option('--timestamp-ca <file>', 'PEM file of timestamp authorities that you trust')
    .addOption(
      new Option('--witness <key...>', 'verifier keys (C2SP vkey) of witnesses that you trust').argParser(addWitness),
    )
    .option('--allow-unauthenticated', 'exit 0 without --keys, although the origin of the evidence is unproven')
    .addOption(jsonOption())
    .action(async (file: string, options: VerifyOptions) => {
      const keys = options.keys === undefined ? undefined : await readJsonText(options.keys)
      const evidence = await readJsonText(file)
      const timestamps = await findTimestamps(evidence, options.timestampCa, terminal)
      const report = verify(evidence, keys, timestamps, options)
      const records = 'paths' in report ? formatPaths(report) : formatRecords(report)
      const isEnough = report.ok && (report.isProven || options.allowUnauthenticated === true)
      terminal.out(options.json ? json(report) : `${formatAxes(report)}\n${describeReport(report, isEnough)}${records}`)
      if (!isEnough) throw new ExitError(1)
    })
}

function addWitness(vkey: string, before: readonly string[] = []): readonly string[] {
  try {
    parseWitness(vkey)
  } catch (error) {
    throw new InvalidArgumentError(errorText(error))
  }
  return [...before, vkey]
}

/** Checks timestamps, which needs the library that reads them; without it they stay unchecked. */
async function findTimestamps(
  evidence: string,
  file: string | undefined,
  terminal: Terminal,
): Promise<TimestampFindings | undefined> {
  const authorities = file === undefined ? undefined : await readText(file)
  try {
    return await readTimestamps(evidence, authorities)
  } catch (error) {
    if (!(error instanceof LibraryMissing)) throw new SallyportError('corrupt_data', `${file} ${errorText(error)}`)
    terminal.err(`sallyport: ${error.message}`)
    return undefined
  }
}

function verify(
  evidence: string,
  keys: string | undefined,
  timestamps: TimestampFindings | undefined,
  options: VerifyOptions,
): EvidenceReport | CrawlsReport {
  try {
    const isOfCrawling = JSON.parse(evidence)?.media_type === CRAWLS_TYPE
    return (isOfCrawling ? verifyCrawls : verifyEvidence)(evidence, keys, timestamps, options.witness)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw new SallyportError('corrupt_data', `${options.keys} is not a JWKS: ${error.message}`)
  }
}

function describeReport({ ok }: EvidenceReport | CrawlsReport, isEnough: boolean): string {
  if (!ok) return 'The evidence is not valid.'
  return isEnough
    ? 'No check failed.'
    : 'No check failed, but the origin of the evidence is unproven. Pass the keys of the service with --keys.'
}

/** Formats the facts that the records prove; empty when a check failed. */
function formatRecords({ records, isProven }: EvidenceReport): string {
  if (records.length === 0) return ''
  const title = isProven
    ? 'Proven: the service recorded these decisions at these times by its own clock.'
    : 'Unproven claims of the records:'
  const shown = records.map(({ attestationId, address = 'erased', country = 'unknown', region, ...record }) => ({
    attestation: String(attestationId),
    time: record.time,
    address,
    claim: record.claim,
    place: placeText(country, region),
    network: record.networkOrigin,
    action: record.action,
    rule: record.reason,
  }))
  return `\n${title}\n${table(shown)}`
}

/** Formats what an operator read, against the preference of the site; empty when a check failed. */
function formatPaths({ paths, operator = '', isProven, leftOut, addresses }: CrawlsReport): string {
  if (paths.length === 0) return ''
  const shown = paths.map(({ preference, action, enforced, ...row }) => ({
    path: row.path,
    'robots.txt': row.robots,
    'Content-Usage': preference.contentUsage ?? '',
    licence: row.licence ?? preference.licence ?? '',
    crawler: row.crawler,
    purpose: row.purpose,
    proof: row.proof,
    action: enforced ? action : `${action} (not enforced)`,
    price: row.price ?? '',
    receipts: (row.receipts ?? []).join(' '),
    requests: String(row.requests),
    pages: String(row.pages),
    bytes: String(row.bytes),
    time: `${row.first} to ${row.last}`,
  }))
  const title = `${isProven ? 'Proven: the service recorded' : 'The records claim, without proof,'} that ${printable(operator)} requested:`
  const left = leftOut === 0 ? '' : `\nThe service states that ${leftOut} more requests are not in these rows.`
  const from = addresses.length === 0 ? '' : `\nFrom: ${addresses.map(printable).join(', ')}`
  return `\n${title}\n${table(shown)}${left}${from}`
}

function table(rows: readonly Readonly<Record<string, string>>[]): string {
  return columns(rows.map(Object.values), Object.keys(rows[0] ?? {}))
}

/** Writes `US-TX` or `US, region unknown`; a claim of a country has no region. */
function placeText(country: string, region: string | undefined): string {
  if (region === undefined) return country
  return region === 'unknown' ? `${country}, region unknown` : region
}

function formatAxes({ axes }: EvidenceReport | CrawlsReport): string {
  const rows = Object.entries(axes).map(([axis, { outcome, detail }]) => {
    return [axis.replace('_', ' '), outcome.replace('_', ' '), printable(detail)]
  })
  return columns(rows)
}

/** Reads the text itself, in which the verifier sees repeated members. */
async function readJsonText(file: string): Promise<string> {
  const text = await readText(file)
  try {
    JSON.parse(text)
  } catch {
    throw new SallyportError('corrupt_data', `${inputName(file)} is not JSON`)
  }
  return text
}

async function readText(file: string): Promise<string> {
  try {
    return await inputText(file)
  } catch (error) {
    throw new SallyportError('missing_data', `${inputName(file)} ${errorText(error)}`)
  }
}
