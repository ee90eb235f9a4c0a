import type { Command } from 'commander'
import { explanation } from '../explanation.ts'
import { decideDescribed, readRequests } from '../requests.ts'
import { type CommonOptions, configOf, jsonOption, openOnce, using, withCommonOptions } from '../settings.ts'
import { json, type Terminal } from '../terminal.ts'

interface Options extends CommonOptions {
  readonly ip?: string
  readonly json?: true
}

/** `sallyport explain FILE` */
export function addExplainCommand(program: Command, terminal: Terminal): void {
  withCommonOptions(program.command('explain').description('the decision about a request of a file, and why'))
    .argument('<file>', 'a request as JSON, or a HAR')
    .option('--ip <address>', 'who asked, where the file does not say')
    .addOption(jsonOption())
    .action(async (file: string, options: Options) => {
      const requests = readRequests(file, options.ip)
      const decisions = await using(openOnce(configOf(options), terminal), (sallyport) =>
        Promise.all(requests.map((request) => decideDescribed(sallyport, request))),
      )
      if (options.json) return terminal.out(json(decisions.length === 1 ? decisions[0] : decisions))
      terminal.out(decisions.map(explanation).join('\n\n'))
    })
}
