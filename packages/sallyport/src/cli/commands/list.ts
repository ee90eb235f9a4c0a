import { editList, showList } from '@sallyport/engine'
import type { Command } from 'commander'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

export function addListCommands(program: Command, terminal: Terminal): void {
  const list = program.command('list').description('show and edit the lists that policies use as list:NAME')

  withJsonOptions(list.command('show').description('show entries of a list; for a URL, entries of the last copy'))
    .argument('<name>', 'name of the list')
    .argument('[wanted]', 'show only entries that match this address, CIDR, AS number or text')
    .action(async (name: string, wanted: string | undefined, options: JsonOptions) => {
      const shown = await showList(readConfig(options), name, wanted)
      if (options.json) return terminal.out(json(shown))
      const none = wanted === undefined ? `The list ${name} is empty.` : `No entry of ${name} matches ${wanted}.`
      terminal.out(shown.entries.length === 0 ? none : shown.entries.join('\n'))
      if (shown.withheld !== undefined) terminal.err(`sallyport: ${shown.withheld}`)
      if (shown.unread.length > 0) terminal.err(`These lines are not valid entries: ${shown.unread.join(', ')}`)
    })

  const edit =
    (what: 'add' | 'remove', done: string, none: string) =>
    async (name: string, entries: string[], options: JsonOptions) => {
      const changed = await audited(options, `list ${what}`, { name, entries }, terminal, (config) =>
        editList(config, name, { what, entries }),
      )
      if (options.json) return terminal.out(json({ name, [done]: changed }))
      terminal.out(
        changed.length === 0
          ? `${none} in ${name}.`
          : `${changed.join(', ')}: ${done} ${what === 'add' ? 'to' : 'from'} ${name}.`,
      )
    }
  withJsonOptions(list.command('add').description('add entries to a list file; a running service reloads it'))
    .argument('<name>', 'name of the list')
    .argument('<entries...>', 'addresses, CIDRs, AS numbers (AS64500) or patterns')
    .action(edit('add', 'added', 'All entries are already'))
  withJsonOptions(list.command('remove').description('remove entries from a list file; comments are kept'))
    .argument('<name>', 'name of the list')
    .argument('<entries...>', 'entries, as shown by list show')
    .action(edit('remove', 'removed', 'None of the entries is'))
}
