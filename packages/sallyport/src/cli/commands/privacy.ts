import { parseAddress } from '@sallyport/core'
import { logins, privacy } from '@sallyport/engine'
import type { Command } from 'commander'
import { consoleErased, consoleKnown } from '../service/console-history.ts'
import { audited } from '../settings/audit.ts'
import { createParser } from '../settings/option-parser.ts'
import { type JsonOptions, withJsonOptions } from '../settings/settings.ts'
import { confirm, yesOption } from '../terminal/ask.ts'
import { columns, ExitError, json, type Terminal } from '../terminal/terminal.ts'

export function addPrivacyCommands(program: Command, terminal: Terminal): void {
  const command = program.command('privacy').description('export or erase personal data of an address or user')

  const add = (verb: string, description: string) =>
    withJsonOptions(command.command(verb).description(description))
      .argument('[address]', 'IPv4 or IPv6 address', parseWho)
      .option('--user <name>', 'application user, by ID or identifier')

  add('export', 'export all data about an address or user').action(
    async (address: string | undefined, { user, ...options }: JsonOptions & UserOption) => {
      // The audit trail omits the address, because it outlives the data about it.
      const details = ({ complete }: { readonly complete: boolean }) => ({ complete })
      const known = await audited(options, 'privacy export', details, terminal, async (config) => {
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
    },
  )

  add('erase', 'erase data about an address or user, and report what remains')
    .addOption(yesOption())
    .action(async (address: string | undefined, { yes, user, ...options }: EraseOptions) => {
      const who = user ?? requireAddress(address, terminal)
      await confirm(`All erasable data about ${who} will be erased permanently.`, yes, terminal)
      const details = ({ places }: { readonly places: readonly Erased[] }) =>
        Object.fromEntries(places.filter(({ erased }) => erased > 0).map(({ place, erased }) => [place, erased]))
      const done = await audited(options, 'privacy erase', details, terminal, async (config) => {
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

type Erased = Pick<Awaited<ReturnType<typeof privacy.eraseKnown>>['places'][number], 'place' | 'erased'>

interface EraseOptions extends JsonOptions, UserOption {
  readonly yes?: true | undefined
}

const parseWho = createParser((text) => parseAddress(text) && text, 'The value is not an IPv4 or IPv6 address.')

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
