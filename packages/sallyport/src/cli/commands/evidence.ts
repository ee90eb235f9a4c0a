import { errorText, SallyportError } from '@sallyport/core'
import { type EvidenceReport, ShapeError, verifyEvidence } from '@sallyport/ledger/verify'
import type { Command } from 'commander'
import { jsonOption } from '../settings/settings.ts'
import { ExitError } from '../terminal/exit.ts'
import { inputName, inputText } from '../terminal/input.ts'
import { printable } from '../terminal/printable.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

interface VerifyOptions {
  readonly keys?: string | undefined
  readonly allowUnauthenticated?: true | undefined
  readonly json?: true | undefined
}

/** `sallyport evidence verify` */
export function addEvidenceCommands(program: Command, terminal: Terminal): void {
  const evidence = program.command('evidence').description('signed evidence about attestations')

  evidence
    .command('verify')
    .description('verify evidence, offline')
    .argument('<file>', 'evidence, as GET /v1/provenance/export gives it; - is standard input')
    .option('--keys <file>', 'JWKS of the service, as GET /v1/provenance/keys gives it')
    .option('--allow-unauthenticated', 'exit 0 without --keys too, although nothing proves the origin of the evidence')
    .addOption(jsonOption())
    .action(async (file: string, options: VerifyOptions) => {
      const keys = options.keys === undefined ? undefined : await readJsonText(options.keys)
      const report = verify(await readJsonText(file), keys, options.keys)
      const isEnough = report.ok && (report.isProven || options.allowUnauthenticated === true)
      terminal.out(
        options.json
          ? json(report)
          : `${formatAxes(report)}\n${describeReport(report, isEnough)}${formatRecords(report)}`,
      )
      if (!isEnough) throw new ExitError(1)
    })
}

function verify(evidence: string, keys: string | undefined, place: string | undefined): EvidenceReport {
  try {
    return verifyEvidence(evidence, keys)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw new SallyportError('corrupt_data', `${place} is not a JWKS: ${error.message}`)
  }
}

function describeReport({ ok }: EvidenceReport, isEnough: boolean): string {
  if (!ok) return 'The evidence is not valid.'
  return isEnough
    ? 'Nothing failed.'
    : 'Nothing failed, and nothing proves who made it: --keys names the keys of the service.'
}

/** Formats the facts that the records prove; empty when a check failed. */
function formatRecords({ records, isProven }: EvidenceReport): string {
  if (records.length === 0) return ''
  const rows = records.map(({ attestationId, time, address = 'erased', claim, country = 'unknown', ...record }) =>
    [String(attestationId), time, address, claim, country, record.networkOrigin, record.action, record.reason].map(
      printable,
    ),
  )
  const head = ['attestation', 'time', 'address', 'claim', 'country', 'network', 'action', 'rule']
  const title = isProven
    ? 'Proven: the service recorded these decisions at these times of its clock.'
    : 'The records say, without proof:'
  return `\n${title}\n${columns(rows, head)}`
}

function formatAxes({ axes }: EvidenceReport): string {
  const rows = Object.entries(axes).map(([axis, { outcome, detail }]) => {
    return [axis.replace('_', ' '), outcome.replace('_', ' '), printable(detail)]
  })
  return columns(rows)
}

/** The text itself, in which the verifier sees what is there twice. */
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
