import { counted } from '@sallyport/core'
import { type Config, openLedgerTools, openSinks } from '@sallyport/engine'
import type { AuditReport } from '@sallyport/ledger'
import type { Command } from 'commander'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { ExitError } from '../terminal/exit.ts'
import { showBar } from '../terminal/progress.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

/** `sallyport ledger verify` */
export function addLedgerCommands(program: Command, terminal: Terminal): void {
  const ledger = program.command('ledger').description('the ledger of attestations')

  withJsonOptions(ledger.command('verify').description('verify every record, and name the first bad one'))
    .option('--no-addresses', 'verify the records only, without addresses and contexts: twice as fast')
    .action(async ({ addresses, ...options }: JsonOptions & { readonly addresses: boolean }) => {
      const bar = showBar('Verifying the ledger')
      const asked = { subjects: addresses, onProgress: bar.update }
      const config = readConfig(options)
      const report = await using(openLedgerTools(config), ({ verify }) => verify(asked)).finally(bar.stop)
      const { logs, records, checkpoints, fault } = report
      if (options.json) terminal.out(json(report))
      else if (fault === undefined) {
        terminal.out(
          `Good: ${counted(records, 'record')} in ${counted(logs, 'log')}, under ${counted(checkpoints, 'checkpoint')}.`,
        )
      } else {
        const record = fault.seq === undefined ? '' : `, record ${fault.seq}`
        const id = fault.attestationId === undefined ? '' : ` (attestation ${fault.attestationId})`
        terminal.out(`Bad: log ${fault.log}${record}${id}: ${fault.reason}`)
      }
      if (fault === undefined) return
      await raiseFault(config, fault, terminal)
      throw new ExitError(1)
    })
}

/** A timer that verifies at night has no reader. */
async function raiseFault(config: Config, fault: NonNullable<AuditReport['fault']>, terminal: Terminal): Promise<void> {
  const sinks = openSinks(config, {
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
  })
  const record = fault.seq === undefined ? '' : `, record ${fault.seq}`
  const text = `The ledger does not verify: log ${fault.log}${record}: ${fault.reason}`
  sinks.raise({ kind: 'ledger', about: 'audit', text })
  await sinks.close()
}
