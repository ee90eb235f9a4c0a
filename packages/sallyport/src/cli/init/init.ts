import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ACTIONS, type Action, counted, SallyportError } from '@sallyport/core'
import { type Config, createTrialCounter, isSafeSqlite, readConfigFrom } from '@sallyport/engine'
import { systemFault } from '@sallyport/engine/files'
import type { Command } from 'commander'
import { decideLogged, NO_PASSES, replayLog, replayNotes } from '../replay/replay.ts'
import { checkConfig, printChecked } from '../settings/config-check.ts'
import { openOnce, readConfig, using, withoutOutbound } from '../settings/settings.ts'
import { bold, columns, dim, type Terminal } from '../terminal/terminal.ts'
import { type Application, FRAMEWORKS, type Framework, formatLines, readApplication } from './frameworks.ts'
import { type Answers, askAnswers, readFramework, readFront, readProtect } from './questions.ts'
import { formatLiteral, formatYaml, listProxySettings, listSettings, type Setting, settingValues } from './settings.ts'

interface Options extends Partial<Answers> {
  readonly config: string
  readonly dataDir?: string | undefined
  readonly target: string
  readonly force?: true | undefined
}

/** A command to begin with, and how to go on. */
interface Begin {
  readonly config: Config
  readonly command: string
  readonly then: string
}

/** `sallyport init` */
export function addInitCommand(program: Command, terminal: Terminal): void {
  program
    .command('init')
    .description('write a configuration by four answers, and try it on an access log')
    .option('--protect <what>', 'site, api, login or everything', readProtect)
    .option('--framework <name>', 'express, koa, fastify, hono, node or proxy', readFramework)
    .option('--front <list>', 'what stands in front: nothing, presets of trustProxy and CIDRs', readFront)
    .option('--log <file>', 'an access log to replay')
    .option('--target <url>', 'the server behind the proxy', 'http://127.0.0.1:3000')
    .option('--config <file>', 'the file to write', 'sallyport.yaml')
    .option('--force', 'replace a file that exists')
    .option('--data-dir <dir>', 'folder of compiled data and the store')
    .action(async ({ config, dataDir, target, force, ...given }: Options) => {
      const application = readApplication('.')
      const refuse = (framework: string): void => {
        if (findFramework(framework) !== undefined || force || !existsSync(config)) return
        throw new SallyportError(
          'invalid_request',
          `${config} exists: --force replaces it, --config FILE writes another.`,
        )
      }
      const { protect, framework, front, log } = await askAnswers(given, application.framework, refuse, terminal)
      const found = findFramework(framework)
      const settings = listSettings(protect, front, dataDir)
      const begin =
        found === undefined
          ? await writeProxy(config, listProxySettings(target, settings), force, terminal)
          : printLines(found, application, settings, terminal)
      if (log !== undefined) await tryReplay(log, begin.config, terminal)
      terminal.out(`\nStart in monitor mode, which refuses nobody:\n\n  ${bold(begin.command)}\n\n${begin.then}`)
    })
}

function findFramework(name: string): Framework | undefined {
  return FRAMEWORKS.find((framework) => framework.name === name)
}

async function writeProxy(
  file: string,
  settings: readonly Setting[],
  force: true | undefined,
  terminal: Terminal,
): Promise<Begin> {
  // A target that is no origin is refused before anything is written.
  readConfigFrom({ flags: settingValues(settings) })
  writeWhole(file, formatYaml(settings), force)
  terminal.out(`\nWrote ${file}:\n\n${formatYaml(settings)}`)
  printChecked(await checkConfig({ config: file }), 'The configuration is valid.', terminal)
  // Node without SQLite of its own finds the package beside a Sallyport of this folder alone.
  const install = isSafeSqlite(process.versions['sqlite']) ? [] : installMissing(['sallyport'])
  const named = file === 'sallyport.yaml' ? '' : ` --config ${file}`
  return {
    config: readConfig({ config: file }),
    command: [...install, `npx sallyport proxy${named}`].join(' && '),
    then: `npx sallyport report${named} then counts the people whom it would have stopped; mode: enforce puts it in force.`,
  }
}

function printLines(
  framework: Framework,
  application: Application,
  settings: readonly Setting[],
  terminal: Terminal,
): Begin {
  const { config, warnings } = readConfigFrom({ flags: settingValues(settings) })
  terminal.out(`\nThe lines for the application:\n\n${formatLines(framework, formatLiteral(settings), application)}\n`)
  printChecked({ errors: [], warnings, notices: [] }, 'The configuration is valid.', terminal)
  const [scope, name] = framework.from.split('/')
  const install = installMissing([`${scope}/${name}`])
  return {
    config,
    command: [...install, application.start].join(' && '),
    then: `npx sallyport report then counts the people whom it would have stopped; mode: 'enforce' puts it in force.`,
  }
}

/** The command that installs what is not in this folder, with SQLite where Node's own is none or too old. */
function installMissing(names: readonly string[]): readonly string[] {
  const all = isSafeSqlite(process.versions['sqlite']) ? names : [...names, '@photostructure/sqlite']
  const missing = all.filter((name) => !existsSync(join('node_modules', name)))
  return missing.length === 0 ? [] : [`npm install ${missing.join(' ')}`]
}

/** Writes a file that nobody ever sees in part, and by default never over another. */
function writeWhole(file: string, text: string, force: true | undefined): void {
  const draft = `${file}-${process.pid}`
  try {
    writeFileSync(draft, text, { flag: 'wx' })
    if (force) renameSync(draft, file)
    else linkSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A log that cannot be replayed says so, and ends nothing. */
async function tryReplay(log: string, config: Config, terminal: Terminal): Promise<void> {
  try {
    terminal.out(await replayed(log, config, terminal))
  } catch (error) {
    const why = error instanceof SallyportError ? error.message : systemFault(error)
    if (why === undefined) throw error
    terminal.err(`sallyport: nothing was replayed: ${why}`)
  }
}

/** Replays a log as if the policy had been in force, and returns what would have happened. */
async function replayed(log: string, config: Config, terminal: Terminal): Promise<string> {
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
    ...(sumUp('challenge') > 0 ? [`Challenges are counted ${NO_PASSES}`] : []),
    ...replayNotes(result).map(dim),
  ].join('\n')
}
