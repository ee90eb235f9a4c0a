import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'

/** Why a test with a program of this machine is skipped; `false` where the program is there. */
export function missing(command: string, flag = '--version'): string | false {
  return NO_NEIGHBOURS || (spawnSync(command, [flag]).error !== undefined && `no ${command} on this machine`)
}

/** Holds the output of a program and how it ended. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a program without the user's settings and without any proxy of this machine, in a home of its own. */
export async function run(
  home: string,
  command: string,
  args: readonly string[],
  input: string | undefined = undefined,
): Promise<Ran> {
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' }
  const child = spawn(command, args, { cwd: home, env, timeout: 60_000 })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: Number(code ?? -1), out, err }
}
