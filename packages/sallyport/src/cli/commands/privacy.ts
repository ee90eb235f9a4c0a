import { logins, privacy } from '@sallyport/engine'
import type { Command } from 'commander'
import { consoleErased, consoleKnown } from '../service/console-history.ts'
import { parseAddressOption } from '../settings/address.ts'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { confirm, yesOption } from '../terminal/ask.ts'
import { ExitError } from '../terminal/exit.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

/** Adds `sallyport privacy export | erase`. */
export function addPrivacyCommands(program: Command, terminal: Terminal): void {
  const command = program.command('privacy').description('export or erase personal data of an address or user')

  withJsonOptions(command.command('export').description('export all data about an address or user'))
    .argument('[address]', 'IPv4 or IPv6 address', parseAddressOption)
    .option('--user <name>', 'application user, by ID or identifier')
    .action(async (address: string | undefined, { user, ...options }: JsonOptions & UserOption) => {
      const config = readConfig(options)
      // The audit trail omits the address, because it outlives the data about it.
      const details = ({ complete }: { readonly complete: boolean }) => ({ complete })
      const known = await audited(config, { what: 'privacy export', details }, terminal, async () => {
        if (user !== undefined) return logins.visitUser(config, user, 'export')
        const { places, ...rest } = await privacy.exportKnown(config, requireAddress(address, terminal))
        return { ...rest, places: [...places, await consoleKnown(config, rest.address)] }
      })
      if (options.json) terminal.out(json(known))
      else {
        const rows = known.places.map(({ place, where, state, entries, kept, reason }) => {
          return [place, state, String(entries.length), where, reason ?? `kept: ${kept}`]
        })
        terminal.out(columns(rows, ['place', 'state', 'entries', 'where', 'reason or retention']))
        terminal.out('--json prints the entries.')
      }
      failWhere(!known.complete, terminal)
    })

  withJsonOptions(command.command('erase').description('erase data about an address or user, and report what remains'))
    .argument('[address]', 'IPv4 or IPv6 address', parseAddressOption)
    .option('--user <name>', 'application user, by ID or identifier')
    .addOption(yesOption())
    .action(async (address: string | undefined, { yes, user, ...options }: JsonOptions & UserOption & YesOption) => {
      const who = user ?? requireAddress(address, terminal)
      await confirm(`All erasable data about ${who} will be erased permanently.`, yes, terminal)
      const config = readConfig(options)
      const details = ({
        places,
      }: {
        readonly places: readonly { readonly place: string; readonly erased: number }[]
      }) => Object.fromEntries(places.filter(({ erased }) => erased > 0).map(({ place, erased }) => [place, erased]))
      const done = await audited(config, { what: 'privacy erase', details }, terminal, async () => {
        if (user !== undefined) return logins.visitUser(config, user, 'erase')
        const { places, ...rest } = await privacy.eraseKnown(config, requireAddress(address, terminal))
        return { ...rest, places: [...places, consoleErased(config)] }
      })
      if (options.json) terminal.out(json(done))
      else {
        const rows = done.places.map(({ place, where, state, erased, reason = '' }) => {
          return [place, state, String(erased), where, reason]
        })
        terminal.out(columns(rows, ['place', 'state', 'erased', 'where', 'what remains, and why']))
      }
      failWhere(!done.complete, terminal)
    })
}

interface UserOption {
  readonly user?: string | undefined
}

interface YesOption {
  readonly yes?: true | undefined
}

/** Throws where neither an address nor a user is named. */
function requireAddress(address: string | undefined, terminal: Terminal): string {
  if (address !== undefined) return address
  terminal.err('sallyport: pass an address or --user NAME.')
  throw new ExitError(2)
}

function failWhere(incomplete: boolean, terminal: Terminal): void {
  if (!incomplete) return
  terminal.err('sallyport: some stores did not respond; see unreachable.')
  throw new ExitError(1)
}
