import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ACTIONS, type Action, counted, SallyportError } from '@sallyport/core'
import { type Config, type ConfigInput, isSafeSqlite, readConfigFrom } from '@sallyport/engine'
import { replaceFile, systemFault } from '@sallyport/engine/files'
import type { Command } from 'commander'
import type { LoggedRequest } from '../log/access/reading.ts'
import { createDecider, NO_PASSES, replayLog, replayNotes } from '../replay/replay.ts'
import { checkConfig, printChecked } from '../settings/config-check.ts'
import { openOnce, readConfig, using, withoutOutbound } from '../settings/settings.ts'
import { bold, columns, dim, type Terminal } from '../terminal/terminal.ts'
import { formatLines, isFramework, readApplication } from './frameworks.ts'
import { type Answers, askAnswers, readFramework, readFront, readProtect, readTarget } from './questions.ts'
import { formatLiteral, formatYaml } from './settings.ts'

interface Options extends Partial<Answers> {
  readonly config: string
  readonly dataDir?: string | undefined
  readonly target: string
  readonly force?: true | undefined
}

const FILE = 'sallyport.yaml'

export function addInitCommand(program: Command, terminal: Terminal): void {
  program
    .command('init')
    .description('create a configuration from four questions, and test it on an access log')
    .option('--protect <what>', 'site, api, login or everything', readProtect)
    .option('--framework <name>', 'express, koa, fastify, hono, node or proxy', readFramework)
    .option('--front <list>', 'proxies in front: nothing, presets of trustProxy, or CIDRs', readFront)
    .option('--log <file>', 'access log to replay')
    .option('--target <url>', 'origin behind the proxy', readTarget, 'http://127.0.0.1:3000')
    .option('--config <file>', 'file to write', FILE)
    .option('--force', 'overwrite an existing file')
    .option('--data-dir <dir>', 'directory of compiled data and the store')
    .action(async ({ config: file, dataDir, target, force, ...given }: Options) => {
      const application = readApplication('.')
      const refuse = (framework: Answers['framework']): void => {
        if (isFramework(framework) || force || !existsSync(file)) return
        throw new SallyportError(
          'invalid_request',
          `${file} exists. Use --force to overwrite it, or --config FILE to write another file.`,
        )
      }
      const { protect, framework, front, log } = await askAnswers(given, application.framework, refuse, terminal)
      const { preset, limits } = protect
      const settings: ConfigInput = {
        mode: 'monitor',
        trustProxy: [...front],
        policy: { preset, ...(limits && { limits }), rules: [] },
        ...(dataDir !== undefined && { dataDir }),
      }
      if (isFramework(framework)) {
        const { config, warnings } = readConfigFrom({ flags: settings })
        const lines = formatLines(framework, formatLiteral(settings), application)
        terminal.out(`\nThe lines for the application:\n\n${lines}\n`)
        printChecked({ errors: [], warnings, notices: [] }, 'The configuration is valid.', terminal)
        if (log !== undefined) await tryReplay(log, config, terminal)
        const [scope, name] = framework.from.split('/')
        const commands = [...installMissing(`${scope}/${name}`), application.start]
        return printBegin('Add these lines and start', commands, '', terminal)
      }
      // Answering takes time, in which another program may have written the file.
      refuse(framework)
      await writeConfig(file, { listen: '127.0.0.1:8080', upstream: target, ...settings, watch: true }, terminal)
      if (log !== undefined) await tryReplay(log, readConfig({ config: file }), terminal)
      const named = file === FILE ? '' : ` --config ${file}`
      // Only a Sallyport of this folder finds SQLite as a package.
      const install = isSafeSqlite(process.versions['sqlite']) ? [] : installMissing('sallyport')
      printBegin('Start', [...install, `npx sallyport proxy${named}`], named, terminal)
    })
}

/** Writes a file that no reader ever sees in part, and checks it. */
async function writeConfig(file: string, settings: ConfigInput, terminal: Terminal): Promise<void> {
  const text = formatYaml(settings)
  // The umask decides who reads it.
  await replaceFile(file, text, 0o666)
  terminal.out(`\nWrote ${file}:\n\n${text}`)
  printChecked(await checkConfig({ config: file }), 'The configuration is valid.', terminal)
}

/** Lists the command that installs missing packages of this folder, with SQLite where Node has none or an old version. */
function installMissing(name: string): readonly string[] {
  const names = isSafeSqlite(process.versions['sqlite']) ? [name] : [name, '@photostructure/sqlite']
  const missing = names.filter((name) => !existsSync(join('node_modules', name)))
  return missing.length === 0 ? [] : [`npm install ${missing.join(' ')}`]
}

function printBegin(lead: string, commands: readonly string[], named: string, terminal: Terminal): void {
  terminal.out(`\n${lead} in monitor mode, which blocks nothing:\n\n  ${bold(commands.join(' && '))}\n`)
  const report = `npx sallyport report${named}`
  terminal.out(`${report} then counts the people it would have stopped. To enforce it, set mode: enforce.`)
}

async function tryReplay(log: string, config: Config, terminal: Terminal): Promise<void> {
  try {
    terminal.out(await replayInForce(log, config, terminal))
  } catch (error) {
    const why = error instanceof SallyportError ? error.message : systemFault(error)
    if (why === undefined) throw error
    terminal.err(`sallyport: nothing was replayed: ${why}`)
  }
}

async function replayInForce(log: string, config: Config, terminal: Terminal): Promise<string> {
  const inForce: Config = { ...withoutOutbound(config), mode: 'enforce' }
  const result = await using(openOnce(inForce, terminal), (sallyport) => {
    const decide = createDecider(sallyport, inForce)
    const decideOnce = async (request: LoggedRequest) => {
      const decision = await decide(request)
      return { before: decision, after: decision }
    }
    return replayLog(log, inForce, decideOnce, terminal)
  })
  const { requests, classes } = result
  if (requests === 0) return `\nNothing was replayed, because ${log} has no requests.`
  const sumUp = (action: Action) => classes.reduce((sum, { after }) => sum + after[action], 0)
  const shown = ACTIONS.filter((action) => sumUp(action) > 0)
  const rows = [
    ...classes.map((row) => [row.class, row.requests, ...shown.map((action) => row.after[action])].map(String)),
    ['all', requests, ...shown.map(sumUp)].map(String),
  ]
  return [
    `\nThe effect of the policy on ${counted(requests, 'request')} of ${log}, if enforced:\n`,
    columns(rows, ['class', 'requests', ...shown]),
    ...(sumUp('challenge') > 0 ? [`A running service challenges fewer requests: ${NO_PASSES}`] : []),
    ...replayNotes(result).map(dim),
  ].join('\n')
}
