import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Measured } from '../promises.ts'

const ROOT = join(import.meta.dirname, '../../..')

interface Ended {
  readonly code: number | null
  readonly output: string
}

async function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv, isShown: boolean): Promise<Ended> {
  const stdio = ['ignore', 'pipe', isShown ? 'pipe' : 'ignore'] as const
  const child = spawn(process.execPath, [join(ROOT, file), ...args], { env, stdio: [...stdio] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      output += bytes.toString()
      if (isShown) process.stdout.write(bytes)
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

/** Runs a program that says `pass` or `FAIL` at the beginning of a line for each of its promises. */
export async function runProgram(file: string, args: readonly string[]): Promise<Measured> {
  const { code, output } = await run(file, args, process.env, true)
  const passed = output.match(/^pass /gm)?.length ?? 0
  const failed = output.match(/^FAIL .*(?:\n {6}.*)?/gm) ?? []
  const broken = code === 0 || failed.length > 0 ? failed : [`it ended with ${code}: ${output.slice(-400)}`]
  return { measured: `${passed} of ${passed + failed.length} hold`, broken }
}

/** Runs tests that the suite has as well, with more of what they do: kills, flips, hostile files. */
export async function runTests(files: readonly string[], more: Readonly<Record<string, string>>): Promise<Measured> {
  let passed = 0
  const broken: string[] = []
  const env = { ...process.env, ...more, TAP_TIMEOUT: '1200', TAP_BAIL: '0' }
  for (const file of files) {
    const { output } = await run(file, [], env, false)
    // "# { total: 12, pass: 10, fail: 1, skip: 1 }"; what is zero is left out.
    const closing = output.match(/^# \{ total: .*\}$/gm)?.at(-1) ?? ''
    const count = (name: string): number => Number(new RegExp(`${name}: (\\d+)`).exec(closing)?.[1] ?? 0)
    passed += count('pass')
    if (count('pass') === 0) broken.push(`${file} says nothing`)
    const failures = count('fail') > 0 ? (output.match(/^ *not ok .*$/gm) ?? []) : []
    broken.push(...failures.slice(0, 5).map((line) => line.trim()))
  }
  const settings = Object.entries(more).map(
    ([name, value]) => `${name.replace('SALLYPORT_', '').toLowerCase()} ${value}`,
  )
  return { measured: `${passed} assertions hold (${settings.join(', ')})`, broken }
}
