import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Measured } from '../promises.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Runs tests that the suite has as well, with more of what they do: kills, flips, hostile files. */
export async function runTests(files: readonly string[], more: Readonly<Record<string, string>>): Promise<Measured> {
  let passed = 0
  const broken: string[] = []
  for (const file of files) {
    const output = await outputOf(join(ROOT, file), more)
    // "# { total: 12, pass: 10, fail: 1, skip: 1 }"; what is zero is left out.
    const closing = output.match(/^# \{ total: .*\}$/gm)?.at(-1) ?? ''
    const count = (name: string): number => Number(new RegExp(`${name}: (\\d+)`).exec(closing)?.[1] ?? 0)
    passed += count('pass')
    if (count('pass') === 0) broken.push(`${file} says nothing`)
    if (count('fail') > 0)
      broken.push(...(output.match(/^ *not ok .*$/gm) ?? []).slice(0, 5).map((line) => line.trim()))
  }
  const settings = Object.entries(more).map(
    ([name, value]) => `${name.replace('SALLYPORT_', '').toLowerCase()} ${value}`,
  )
  return { measured: `${passed} assertions hold (${settings.join(', ')})`, broken }
}

async function outputOf(file: string, more: Readonly<Record<string, string>>): Promise<string> {
  const env = { ...process.env, ...more, TAP_TIMEOUT: '1200', TAP_BAIL: '0' }
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString('latin1')
  })
  await once(child, 'close')
  return output
}
