import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ACTIONS, type Action, counted, SallyportError } from '@sallyport/core'
import { type Config, type ConfigInput, createTrialCounter, isSafeSqlite, readConfigFrom } from '@sallyport/engine'
import { systemFault } from '@sallyport/engine/files'
import type { Command } from 'commander'
import { decideLogged, NO_PASSES, replayLog, replayNotes } from '../replay/replay.ts'
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

/** `sallyport init` */
export function addInitCommand(program: Command, terminal: Terminal): void {
  program
    .command('init')
    .description('write a configuration by four answers, and try it on an access log')
    .option('--protect <what>', 'site, api, login or everything', readProtect)
    .option('--framework <name>', 'express, koa, fastify, hono, node or proxy', readFramework)
    .option('--front <list>', 'what stands in front: nothing, presets of trustProxy and CIDRs', readFront)
    .option('--log <file>', 'an access log to replay')
    .option('--target <url>', 'the server behind the proxy', readTarget, 'http://127.0.0.1:3000')
    .option('--config <file>', 'the file to write', FILE)
    .option('--force', 'replace a file that exists')
    .option('--data-dir <dir>', 'folder of compiled data and the store')
    .action(async ({ config: file, dataDir, target, force, ...given }: Options) => {
      const application = readApplication('.')
      const refuse = (framework: Answers['framework']): void => {
        if (isFramework(framework) || force || !existsSync(file)) return
        throw new SallyportError(
          'invalid_request',
          `${file} exists: --force replaces it, --config FILE writes another.`,
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
        return printBegin(
          'Put the lines in, and start',
          [...installMissing(`${scope}/${name}`), application.start],
          '',
          terminal,
        )
      }
      // Questions take time, in which a file may have come.
      refuse(framework)
      await writeConfig(file, { listen: '127.0.0.1:8080', upstream: target, ...settings, watch: true }, terminal)
      if (log !== undefined) await tryReplay(log, readConfig({ config: file }), terminal)
      const named = file === FILE ? '' : ` --config ${file}`
      // SQLite as a package is found beside a Sallyport of this folder alone.
      const install = isSafeSqlite(process.versions['sqlite']) ? [] : installMissing('sallyport')
      printBegin('Start', [...install, `npx sallyport proxy${named}`], named, terminal)
    })
}

/** Writes a file that nobody ever sees in part, and checks it. */
async function writeConfig(file: string, settings: ConfigInput, terminal: Terminal): Promise<void> {
  const text = formatYaml(settings)
  const draft = `${file}-${process.pid}`
  try {
    writeFileSync(draft, text, { flag: 'wx' })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  terminal.out(`\nWrote ${file}:\n\n${text}`)
  printChecked(await checkConfig({ config: file }), 'The configuration is valid.', terminal)
}

/** Lists the command that installs what is not in this folder, with SQLite where Node's own is none or too old. */
function installMissing(name: string): readonly string[] {
  const names = isSafeSqlite(process.versions['sqlite']) ? [name] : [name, '@photostructure/sqlite']
  const missing = names.filter((name) => !existsSync(join('node_modules', name)))
  return missing.length === 0 ? [] : [`npm install ${missing.join(' ')}`]
}

function printBegin(lead: string, commands: readonly string[], named: string, terminal: Terminal): void {
  terminal.out(`\n${lead} in monitor mode, which refuses nobody:\n\n  ${bold(commands.join(' && '))}\n`)
  const report = `npx sallyport report${named}`
  terminal.out(`${report} then counts the people whom it would have stopped; mode: enforce puts it in force.`)
}

/** A log that cannot be replayed says so, and ends nothing. */
async function tryReplay(log: string, config: Config, terminal: Terminal): Promise<void> {
  try {
    terminal.out(await replayInForce(log, config, terminal))
  } catch (error) {
    const why = error instanceof SallyportError ? error.message : systemFault(error)
    if (why === undefined) throw error
    terminal.err(`sallyport: nothing was replayed: ${why}`)
  }
}

/** Replays a log as if the policy had been in force, and returns what would have happened. */
async function replayInForce(log: string, config: Config, terminal: Terminal): Promise<string> {
  let now = Date.now()
  const inForce: Config = { ...withoutOutbound(config), mode: 'enforce' }
  const counter = createTrialCounter(inForce, { now: () => now })
  const result = await using(openOnce(inForce, terminal), (sallyport) =>
    replayLog(
      log,
      inForce,
      async (request) => {
        now = request.at
        const decision = await decideLogged(request, sallyport, counter)
        return { before: decision, after: decision }
      },
      terminal,
    ),
  )
  const { requests, classes } = result
  if (requests === 0) return `\n${log} has no request, so nothing was replayed.`
  const sumUp = (action: Action) => classes.reduce((sum, { after }) => sum + after[action], 0)
  const shown = ACTIONS.filter((action) => sumUp(action) > 0)
  const rows = [
    ...classes.map((row) => [row.class, row.requests, ...shown.map((action) => row.after[action])]),
    ['all', requests, ...shown.map(sumUp)],
  ]
  return [
    `\nWhat would have happened to ${counted(requests, 'request')} of ${log} with the policy in force:\n`,
    columns(
      rows.map((row) => row.map(String)),
      ['class', 'requests', ...shown],
    ),
    ...(sumUp('challenge') > 0 ? [`In service fewer are challenged: ${NO_PASSES}`] : []),
    ...replayNotes(result).map(dim),
  ].join('\n')
}
