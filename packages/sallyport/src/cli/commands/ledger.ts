import { counted, errorText, SallyportError } from '@sallyport/core'
import { type Config, type LedgerTime, type LedgerTools, openLedgerTools, openSinks } from '@sallyport/engine'
import type { AuditReport } from '@sallyport/ledger'
import { LibraryMissing } from '@sallyport/ledger/timestamp'
import type { Command } from 'commander'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { ExitError } from '../terminal/exit.ts'
import { inputText } from '../terminal/input.ts'
import { showBar } from '../terminal/progress.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

/** Adds `sallyport ledger verify`. */
export function addLedgerCommands(program: Command, terminal: Terminal): void {
  const ledger = program.command('ledger').description('verify the ledger')

  withJsonOptions(ledger.command('verify').description('verify every record and report the first invalid record'))
    .option('--timestamp-ca <file>', 'PEM file of timestamp authorities that you trust')
    .option('--no-addresses', 'skip addresses and contexts; twice as fast')
    .action(async ({ addresses, timestampCa, ...options }: VerifyOptions) => {
      const bar = showBar('Verifying the ledger')
      const asked = { subjects: addresses, onProgress: bar.update }
      const config = readConfig(options)
      const witnesses = config.ledger.witnesses.map(({ vkey }) => vkey)
      const authorities = timestampCa === undefined ? undefined : await inputText(timestampCa)
      const [report, time] = await using(
        openLedgerTools(config),
        async (tools) => [await tools.verify(asked), await readTime(tools, authorities, witnesses)] as const,
      ).finally(bar.stop)
      const { logs, records, checkpoints, fault } = report
      if (options.json) terminal.out(json({ ...report, time }))
      else if (fault === undefined) {
        terminal.out(
          `Good: ${counted(records, 'record')} in ${counted(logs, 'log')}, under ${counted(checkpoints, 'checkpoint')}.`,
        )
      } else {
        const record = fault.seq === undefined ? '' : `, record ${fault.seq}`
        const id = fault.attestationId === undefined ? '' : ` (attestation ${fault.attestationId})`
        terminal.out(`Bad: log ${fault.log}${record}${id}: ${fault.reason}`)
      }
      if (!options.json) terminal.out(formatTime(time))
      if (fault === undefined) {
        if (time.outcome === 'fail') throw new ExitError(1)
        return
      }
      await raiseFault(config, fault, terminal)
      throw new ExitError(1)
    })
}

interface VerifyOptions extends JsonOptions {
  readonly addresses: boolean
  readonly timestampCa?: string | undefined
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

/** Formats the time log, and what it proves of each log. */
function formatTime({ outcome, detail, logs }: LedgerTime): string {
  const rows = logs.map(
    ({ log, records, provedBefore }) => `\n  ${log}: ${counted(records, 'record')} proved before ${provedBefore}`,
  )
  return `time: ${outcome.replace('_', ' ')}: ${detail}${rows.join('')}`
}

/** Raises an event for a fault: no reader watches a nightly verification. */
async function raiseFault(config: Config, fault: NonNullable<AuditReport['fault']>, terminal: Terminal): Promise<void> {
  const sinks = openSinks(config, {
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
  })
  const record = fault.seq === undefined ? '' : `, record ${fault.seq}`
  const text = `The ledger does not verify: log ${fault.log}${record}: ${fault.reason}`
  sinks.raise({ kind: 'ledger', about: 'audit', text })
  await sinks.close()
}
