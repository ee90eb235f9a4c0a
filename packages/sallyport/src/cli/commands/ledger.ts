import { counted, errorText, SallyportError } from '@sallyport/core'
import { type Config, type LedgerTime, type LedgerTools, openLedgerTools, openSinks } from '@sallyport/engine'
import type { AuditReport } from '@sallyport/ledger'
import { LibraryMissing } from '@sallyport/ledger/timestamp'
import type { Command } from 'commander'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { inputText } from '../terminal/input.ts'
import { createBar } from '../terminal/progress.ts'
import { ExitError, json, type Terminal } from '../terminal/terminal.ts'

type Fault = NonNullable<AuditReport['fault']>

interface VerifyOptions extends JsonOptions {
  readonly addresses: boolean
  readonly timestampCa?: string | undefined
}

export function addLedgerCommands(program: Command, terminal: Terminal): void {
  const ledger = program.command('ledger').description('verify the ledger')

  withJsonOptions(ledger.command('verify').description('verify every record and report the first invalid record'))
    .option('--timestamp-ca <file>', 'PEM file of timestamp authorities that you trust')
    .option('--no-addresses', 'skip addresses and contexts; twice as fast')
    .action(async ({ addresses, timestampCa, ...options }: VerifyOptions) => {
      const bar = createBar('Verifying the ledger')
      const about = { subjects: addresses, onProgress: bar.update }
      const config = readConfig(options)
      const witnesses = config.ledger.witnesses.map(({ vkey }) => vkey)
      const authorities = timestampCa === undefined ? undefined : await inputText(timestampCa)
      const [report, time] = await using(
        openLedgerTools(config),
        async (tools) => [await tools.verify(about), await readTime(tools, authorities, witnesses)] as const,
      ).finally(bar.stop)
      const { fault } = report
      terminal.out(options.json ? json({ ...report, time }) : `${formatReport(report)}\n${formatTime(time)}`)
      if (fault !== undefined) await raiseFault(config, fault, terminal)
      if (fault !== undefined || time.outcome === 'fail') throw new ExitError(1)
    })
}

function formatReport({ logs, records, checkpoints, fault }: AuditReport): string {
  if (fault === undefined)
    return `Good: ${counted(records, 'record')} in ${counted(logs, 'log')}, under ${counted(checkpoints, 'checkpoint')}.`
  const id = fault.attestationId === undefined ? '' : ` (attestation ${fault.attestationId})`
  return `Bad: ${placeText(fault)}${id}: ${fault.reason}`
}

function placeText({ log, seq }: Fault): string {
  return seq === undefined ? `log ${log}` : `log ${log}, record ${seq}`
}

/** Checks timestamps, which needs the library that reads them; without it they stay unchecked. */
async function readTime(
  { time }: LedgerTools,
  authorities: string | undefined,
  witnesses: readonly string[],
): Promise<LedgerTime> {
  try {
    return await time(authorities, witnesses)
  } catch (error) {
    if (error instanceof LibraryMissing) return { outcome: 'not_provided', detail: `${error.message}.`, logs: [] }
    throw new SallyportError('corrupt_data', `--timestamp-ca ${errorText(error)}`)
  }
}

function formatTime({ outcome, detail, logs }: LedgerTime): string {
  const rows = logs.map(
    ({ log, records, provedBefore }) => `\n  ${log}: ${counted(records, 'record')} proved before ${provedBefore}`,
  )
  return `time: ${outcome.replace('_', ' ')}: ${detail}${rows.join('')}`
}

/** Raises an event for a fault: no reader watches a nightly verification. */
async function raiseFault(config: Config, fault: Fault, terminal: Terminal): Promise<void> {
  const sinks = openSinks(config, { onNotice: (message) => terminal.err(`sallyport: ${message}`) })
  const text = `The ledger does not verify: ${placeText(fault)}: ${fault.reason}`
  sinks.raise({ kind: 'ledger', about: 'audit', text })
  await sinks.close()
}
