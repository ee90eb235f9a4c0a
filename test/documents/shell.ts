import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { PATH } from '../started.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Runs a block of a document as it is written; resolves with its output. This thread may answer it meanwhile. */
export async function shell(t: Test, script: string, env: Env, cwd?: string): Promise<string> {
  const block = script.replaceAll('npx sallyport', 'sallyport')
  const child = spawn('bash', ['-euo', 'pipefail', '-c', block], { cwd, env: { ...process.env, PATH, ...env } })
  const [out, err, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  t.equal(status, 0, `${script}: ${err}`)
  return out
}
