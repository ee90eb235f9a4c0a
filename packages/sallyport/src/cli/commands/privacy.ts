import { privacy } from '@sallyport/engine'
import type { Command } from 'commander'
import { consoleErased, consoleKnown } from '../service/console-history.ts'
import { parseAddressOption } from '../settings/address.ts'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { confirm, yesOption } from '../terminal/ask.ts'
import { ExitError } from '../terminal/exit.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

/** `sallyport privacy export | erase` */
export function addPrivacyCommands(program: Command, terminal: Terminal): void {
  const command = program.command('privacy').description('personal data of one address, and its erasure')

  withJsonOptions(command.command('export').description('export all data about an address, place by place'))
    .argument('<address>', 'IPv4 or IPv6 address', parseAddressOption)
    .action(async (address: string, options: JsonOptions) => {
      const config = readConfig(options)
      // Without the address: the trail outlives what it is about.
      const details = ({ complete }: { readonly complete: boolean }) => ({ complete })
      const known = await audited(config, { what: 'privacy export', details }, terminal, async () => {
        const { places, ...rest } = await privacy.exportKnown(config, address)
        return { ...rest, places: [...places, await consoleKnown(config, rest.address)] }
      })
      if (options.json) terminal.out(json(known))
      else {
        const rows = known.places.map(({ place, where, state, entries, kept, reason }) => {
          return [place, state, String(entries.length), where, reason ?? `kept: ${kept}`]
        })
        terminal.out(columns(rows, ['place', 'state', 'entries', 'where', 'why, or for how long']))
        terminal.out('--json has the entries themselves.')
      }
      failWhere(!known.complete, terminal)
    })

  withJsonOptions(command.command('erase').description('erase what is stored about an address, and report what stays'))
    .argument('<address>', 'IPv4 or IPv6 address', parseAddressOption)
    .addOption(yesOption())
    .action(async (address: string, { yes, ...options }: JsonOptions & { readonly yes?: true | undefined }) => {
      await confirm(`What is stored about ${address} is erased for good.`, yes, terminal)
      const config = readConfig(options)
      const details = ({
        places,
      }: {
        readonly places: readonly { readonly place: string; readonly erased: number }[]
      }) => Object.fromEntries(places.filter(({ erased }) => erased > 0).map(({ place, erased }) => [place, erased]))
      const done = await audited(config, { what: 'privacy erase', details }, terminal, async () => {
        const { places, ...rest } = await privacy.eraseKnown(config, address)
        return { ...rest, places: [...places, consoleErased(config)] }
      })
      if (options.json) terminal.out(json(done))
      else {
        const rows = done.places.map(({ place, where, state, erased, reason = '' }) => {
          return [place, state, String(erased), where, reason]
        })
        terminal.out(columns(rows, ['place', 'state', 'erased', 'where', 'what stays, and why']))
      }
      failWhere(!done.complete, terminal)
    })
}

function failWhere(incomplete: boolean, terminal: Terminal): void {
  if (!incomplete) return
  terminal.err('sallyport: not every place answered: see unreachable.')
  throw new ExitError(1)
}
