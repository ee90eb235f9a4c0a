import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { notify, privacy } from '@sallyport/engine'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { ROOMS, readSources } from './rooms.ts'

/* A feature is one folder and one line: without both, everything else builds. */

const DELETED = { notify, privacy }
/** The workspaces that are copied: the command, and all below it. */
const WORKSPACES = [
  'data',
  ...['core', 'ledger', 'engine', 'sallyport'].map((name) => `packages/${name}`),
  ...['node', 'proxy'].map((name) => `adapters/${name}`),
]
const FEATURES = 'packages/engine/src/features'
const CLI = 'packages/sallyport/src/cli'

/** Copies the sources of the workspaces without their tests, beside links to what is installed. */
function copySources(copy: string): void {
  const isSource = (path: string) => !/[/\\](?:dist|node_modules|test)(?:[/\\]|$)/.test(path.slice(ROOT.length))
  for (const workspace of WORKSPACES) {
    cpSync(join(ROOT, workspace), join(copy, workspace), { recursive: true, filter: isSource })
    const installed = join(ROOT, workspace, 'node_modules')
    if (existsSync(installed)) symlinkSync(installed, join(copy, workspace, 'node_modules'))
  }
  cpSync(join(ROOT, 'tsconfig.json'), join(copy, 'tsconfig.json'))
  mkdirSync(join(copy, 'node_modules/@sallyport'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.includes('sallyport')) symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name))
  for (const workspace of WORKSPACES) {
    const { name } = JSON.parse(readFileSync(join(copy, workspace, 'package.json'), 'utf8'))
    symlinkSync(join(copy, workspace), join(copy, 'node_modules', name))
  }
}

/** Takes the lines away that match, and returns how many those were. */
function deleteLines(file: string, pattern: RegExp): number {
  const lines = readFileSync(file, 'utf8').split('\n')
  const kept = lines.filter((line) => !pattern.test(line))
  writeFileSync(file, kept.join('\n'))
  return lines.length - kept.length
}

t.test('two features are deleted by their folders and lines, and the rest builds', async (t) => {
  const copy = t.testdir()
  copySources(copy)
  for (const [name, { feature }] of Object.entries(DELETED)) {
    rmSync(join(copy, FEATURES, name), { recursive: true })
    t.equal(deleteLines(join(copy, FEATURES, 'index.ts'), new RegExp(`'\\./${name}/index\\.ts'`)), 1)
    const main = join(copy, CLI, 'main.ts')
    const file = `./commands/${feature.command}.ts`
    const [, add = 'none'] = new RegExp(`import \\{ (\\w+) \\} from '${file}'`).exec(readFileSync(main, 'utf8')) ?? []
    rmSync(join(copy, CLI, file))
    t.equal(deleteLines(main, new RegExp(`\\b${add}\\b`)), 2, 'the command is imported and added')
  }
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js')
  const options = { cwd: copy, encoding: 'utf8' } as const
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-b', 'packages/sallyport'], options)
  t.same([stdout, status], ['', 0])
})

t.test('few folders name a feature that can be deleted', async (t) => {
  // systemd's own words are notifications of another kind.
  const others = /systemd-notify|sd_notify|notify systemd|Atomics\.notify/g
  const sources = Object.keys(ROOMS).flatMap(readSources)
  const naming = sources.filter(({ text }) => /\bnotify\b(?!-reload)/.test(text.replace(others, '')))
  const folders = new Set(naming.map(({ path }) => dirname(path)))
  t.same([...folders].sort(), [FEATURES, `${FEATURES}/notify`, CLI, `${CLI}/commands`])
})
