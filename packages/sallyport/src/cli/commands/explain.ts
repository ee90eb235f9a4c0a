import { counted, createPathTable, type Decision, findProbe, SallyportError } from '@sallyport/core'
import type { LogLine } from '@sallyport/engine'
import type { Command } from 'commander'
import { logOption, openLog, readLog } from '../log/decision-log.ts'
import { isRequest } from '../log/entry.ts'
import { logExplanation } from '../log/log-text.ts'
import { explanation } from '../requests/explanation.ts'
import { decideDescribed, readRequests } from '../requests/requests.ts'
import { type JsonOptions, openOnce, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly ip?: string | undefined
  readonly request?: string | undefined
  readonly log?: string | undefined
}

export function addExplainCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('explain').description('explain the decision for a request'))
    .argument('[file]', 'request as JSON or HAR; - reads standard input')
    .option('--ip <address>', 'client address, if the file has none')
    .option('--request <id>', 'request ID from a refusal page; explains that request of the decision log')
    .addOption(logOption())
    .action(async (file: string | undefined, options: Options) => {
      if ((file === undefined) === (options.request === undefined)) {
        throw new SallyportError('invalid_config', 'explain needs a file, or --request with a request ID.')
      }
      if (file === undefined) await explainLogged(options, terminal)
      else await explainFile(file, options, terminal)
    })
}

async function explainFile(file: string, options: Options, terminal: Terminal): Promise<void> {
  const { requests, skipped } = await readRequests(file, options.ip)
  if (skipped > 0) terminal.err(`sallyport: skipped ${counted(skipped, 'entry', 'entries')} without an HTTP request.`)
  const config = readConfig(options)
  const decisions = await using(openOnce(config, terminal), (sallyport) =>
    Promise.all(requests.map((request) => decideDescribed(sallyport, request))),
  )
  if (options.json) return terminal.out(json(decisions.length === 1 ? decisions[0] : decisions))
  const isDecoy = createPathTable(config.decoys.paths)
  const findTrap = (request: Decision['inspection']['request']) => {
    if (isDecoy(request) !== undefined) return 'a decoy, which is a strike if policy.strikes.on lists decoy'
    const reason = findProbe(request)?.reason
    return reason && `a scanner probe, which scanner-guard counts: ${reason}`
  }
  terminal.out(decisions.map((decision) => explanation(decision, findTrap)).join('\n\n'))
}

async function explainLogged(options: Options, terminal: Terminal): Promise<void> {
  const source = await openLog(options, options.request)
  const found: LogLine[] = []
  for await (const entry of readLog(source, source.entries, terminal))
    if (isRequest(entry) && entry.requestId === options.request) found.push(entry)
  if (found.length === 0)
    throw new SallyportError('unknown_request', `${source.name} has no request ${options.request}. ${source.holds}`)
  if (options.json) return terminal.out(json(found.length === 1 ? found[0] : found))
  terminal.out(found.map(logExplanation).join('\n\n'))
}
