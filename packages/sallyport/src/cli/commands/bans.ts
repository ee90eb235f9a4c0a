import { type Ban, strikesText } from '@sallyport/core'
import { openBans } from '@sallyport/engine'
import type { Command } from 'commander'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

/** `sallyport bans list | lift` */
export function addBansCommands(program: Command, terminal: Terminal): void {
  const bans = program.command('bans').description('clients that are banned for a while')

  withJsonOptions(bans.command('list').description('list bans in force, the soonest to end first')).action(
    async (options: JsonOptions) => {
      const listed = await using(openBans(readConfig(options)), ({ bans }) => bans.list())
      if (options.json) return terminal.out(json(listed.map(shown)))
      if (listed.length === 0) return terminal.out('Nobody is banned.')
      const rows = printableValue(listed).map((ban) => {
        const { id, key, since, until } = shown(ban)
        return [id, key, strikesText(ban), since, until]
      })
      terminal.out(columns(rows, ['id', 'who', 'for', 'since', 'until']))
    },
  )

  withJsonOptions(
    bans.command('lift').description('end a ban and forget its strikes; running processes follow at once'),
  )
    .argument('<id>', 'as `bans list` shows it')
    .action(async (id: string, options: JsonOptions) => {
      const config = readConfig(options)
      await audited(config, { what: 'bans lift', details: { id } }, terminal, () =>
        using(openBans(config), ({ lift }) => lift(id)),
      )
      terminal.out(options.json ? json({ id, lifted: true }) : `${id} is lifted.`)
    })
}

/** A ban as JSON; times are ISO 8601, UTC. */
function shown({ since, until, windowMs: _, ...ban }: Ban) {
  return { ...ban, since: new Date(since).toISOString(), until: new Date(until).toISOString() }
}
