import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import { Parser, type Result } from 'tap-parser'
import { ROOT } from '../workspaces.ts'
import type { Group } from './files.ts'

export interface Failure {
  readonly name: string
  /** Tap's report of it: where, what was expected and what was found. */
  readonly said: unknown
}

export interface Outcome {
  readonly name: string
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly Failure[]
  readonly seconds: number
  readonly peakMb: number
}

const TOGETHER = relative(ROOT, join(import.meta.dirname, 'together.js'))
/** tap names the test that hangs; what hangs so that tap cannot is killed a minute later. */
const MAX_SECONDS = 1_200
/** Heap of one process: without a bound V8 collects too late, and one process held 2.5 GB. */
export const HEAP_MB = { quick: 384, all: 640 } as const

/** Runs the files of a group in a process; what it prints beside its results is shown only where it fails. */
export async function runGroup(
  { name, files }: Group,
  env: NodeJS.ProcessEnv,
  heapMb: number,
  maxSeconds = MAX_SECONDS,
): Promise<Outcome> {
  const began = performance.now()
  const argv = [`--max-old-space-size=${heapMb}`, TOGETHER, name.replace(/\W+/g, '-'), ...files]
  const child = spawn(process.execPath, argv, {
    cwd: ROOT,
    env: { ...env, TAP_TIMEOUT: String(maxSeconds) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const late = setTimeout(() => child.kill('SIGKILL'), (maxSeconds + 60) * 1_000)
  const found: Found = { passed: 0, skipped: 0, peakMb: 0, failures: [] }
  const parser = new Parser()
  watch(parser, '', found)
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (printed = `${printed}${text}`.slice(-4_000)))
  child.stdout.pipe(parser)
  const [code, signal] = await once(child, 'close')
  clearTimeout(late)
  const { failures } = found
  const isEmpty = found.passed + found.skipped === 0
  // Node ends so where a late error, as of an ended test's socket, belongs to no test: tap only says that the test after it is unfinished.
  const hasThrown = /^Node\.js v\S+$/m.test(printed)
  if (hasThrown || (failures.length === 0 && (code !== 0 || isEmpty))) {
    const how = isEmpty && code === 0 ? 'nothing ran' : `the process ended with ${signal ?? code}`
    failures.unshift({ name: how, said: { files: files.join(' '), printed } })
  }
  return { name, ...found, seconds: (performance.now() - began) / 1_000 }
}

interface Found {
  passed: number
  skipped: number
  peakMb: number
  readonly failures: Failure[]
}

/** Counts assertions, not the tests that hold them; a test that failed without one (late, or too few) is a failure of its own. */
function watch(parser: Parser, path: string, found: Found): void {
  const { failures } = found
  let before = failures.length
  parser.on('child', (child: Parser) => {
    before = failures.length
    watch(child, `${path}${child.name} > `, found)
  })
  parser.on('comment', (text: string) => {
    found.peakMb = Math.max(found.peakMb, Number(/^# peak (\d+) MB/.exec(text)?.[1] ?? 0))
  })
  parser.on('assert', ({ closingTestPoint: isTest, skip, todo, ok, name, diag }: Result) => {
    if (skip || todo) found.skipped++
    else if (!ok && (!isTest || failures.length === before)) failures.push({ name: `${path}${name}`, said: diag })
    else if (ok && !isTest) found.passed++
  })
}
