import type { Ban } from '@sallyport/core'
import { openBans } from '@sallyport/engine'
import type { Command } from 'commander'
import { audited } from '../settings/audit.ts'
import { type CommonOptions, configOf, jsonOption, using, withCommonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

type ReadOptions = CommonOptions & { readonly json?: true | undefined }

/** `sallyport bans list | lift` */
export function addBansCommands(program: Command, terminal: Terminal): void {
  const bans = program.command('bans').description('clients that are banned for a while')

  withCommonOptions(bans.command('list').description('list bans in force, the soonest to end first'))
    .addOption(jsonOption())
    .action(async (options: ReadOptions) => {
      const listed = await using(openBans(configOf(options)), ({ bans }) => bans.list())
      const rows = listed.map(shown)
      if (options.json) return terminal.out(json(rows))
      if (rows.length === 0) return terminal.out('Nobody is banned.')
      terminal.out(
        columns(
          printableValue(rows).map(({ id, key, on, count, since, until }) => [
            id,
            key,
            `${count}, the last ${on}`,
            since,
            until,
          ]),
          ['id', 'who', 'strikes', 'since', 'until'],
        ),
      )
    })

  withCommonOptions(bans.command('lift').description('end a ban before its time; running processes follow at once'))
    .argument('<id>', 'as `bans list` shows it')
    .addOption(jsonOption())
    .action(async (id: string, options: ReadOptions) => {
      const config = configOf(options)
      await audited(config, { what: 'bans lift', details: { id } }, terminal, () =>
        using(openBans(config), ({ lift }) => lift(id)),
      )
      terminal.out(options.json ? json({ id, lifted: true }) : `${id} is lifted.`)
    })
}

/** A ban as JSON; times are ISO 8601, UTC. */
function shown({ id, key, on, count, since, until }: Ban) {
  return { id, key, on, count, since: new Date(since).toISOString(), until: new Date(until).toISOString() }
}
