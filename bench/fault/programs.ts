import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Measured } from '../promises.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Runs a program that says `pass` or `FAIL` at the beginning of a line for each of its promises. */
export async function runProgram(file: string, args: readonly string[]): Promise<Measured> {
  const child = spawn(process.execPath, [join(ROOT, file), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString()
      process.stdout.write(bytes)
    })
  }
  const [code] = await once(child, 'close')
  const passed = output.match(/^pass /gm)?.length ?? 0
  const failed = output.match(/^FAIL .*(?:\n {6}.*)?/gm) ?? []
  const broken = code === 0 || failed.length > 0 ? failed : [`it ended with ${code}: ${output.slice(-400)}`]
  return { measured: `${passed} of ${passed + failed.length} hold`, broken }
}
