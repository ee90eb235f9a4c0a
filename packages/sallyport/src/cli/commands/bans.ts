import { type Ban, strikesText } from '@sallyport/core'
import { openBans } from '@sallyport/engine'
import type { Command } from 'commander'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

export function addBansCommands(program: Command, terminal: Terminal): void {
  const bans = program.command('bans').description('manage temporary bans')

  withJsonOptions(bans.command('list').description('list active bans, sorted by their end')).action(
    async (options: JsonOptions) => {
      const listed = await using(openBans(readConfig(options)), ({ bans }) => bans.list())
      if (options.json) return terminal.out(json(listed.map(formatBan)))
      if (listed.length === 0) return terminal.out('There are no active bans.')
      const rows = listed.map((ban) => [ban.id, ban.key, strikesText(ban), formatBan(ban).since, formatBan(ban).until])
      terminal.out(columns(rows, ['id', 'who', 'for', 'since', 'until']))
    },
  )

  withJsonOptions(
    bans.command('lift').description('end a ban and reset its strikes; running processes apply the change immediately'),
  )
    .argument('<id>', 'ban ID, as shown by `bans list`')
    .action(async (id: string, options: JsonOptions) => {
      await audited(options, 'bans lift', { id }, terminal, (config) => using(openBans(config), ({ lift }) => lift(id)))
      terminal.out(options.json ? json({ id, lifted: true }) : `The ban ${id} is lifted.`)
    })
}

function formatBan({ since, until, windowMs: _, ...ban }: Ban) {
  return { ...ban, since: new Date(since).toISOString(), until: new Date(until).toISOString() }
}
