import type { Command } from 'commander'
import { configOf, jsonOption, openShowing, type SharedOptions, using, withShared } from '../settings.ts'
import { creditLines, sourceLines } from '../sources.ts'
import { dim, json, type Terminal } from '../terminal.ts'

/** `sallyport data status | compile` */
export function addDataCommands(program: Command, terminal: Terminal): void {
  const data = program.command('data').description('the data sets that verdicts rest on')

  withShared(data.command('status').description('what is loaded, from when, and under which licence'))
    .addOption(jsonOption())
    .action(async (options: SharedOptions & { readonly json?: true }) => {
      const sources = await using(openShowing(configOf(options), terminal), async (sallyport) => sallyport.sources())
      if (options.json) return terminal.out(json(sources))
      terminal.out(sourceLines(sources))
      for (const credit of creditLines(sources)) terminal.out(dim(credit))
    })

  withShared(data.command('compile').description('compile the data now, where that is not done yet')).action(
    async (options: SharedOptions) => {
      const config = configOf(options)
      const sources = await using(openShowing(config, terminal), async (sallyport) => sallyport.sources())
      terminal.out(sourceLines(sources))
      terminal.out(`Compiled in ${config.dataDir}.`)
    },
  )
}
