import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import type { Test } from 'tap'

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

/** Names browsers with a window, and what gives one to those that need a screen. */
export const XVFB = '/usr/bin/xvfb-run'
export const FIREFOX = process.env['SALLYPORT_FIREFOX'] ?? '/usr/bin/firefox-esr'
export const WEBKIT = process.env['SALLYPORT_WEBKIT'] ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'

/** Why a test with programs at these paths is skipped; `false` where all are there. */
export const missingFiles = (...files: readonly string[]): string | false =>
  NO_NEIGHBOURS || (files.some((file) => !existsSync(file)) && `there is no ${files.join(', or no ')}`)

/** Runs a program, and all that it starts, until the test has ended or it is closed. */
export function start(t: Test, home: string, [program = '', ...given]: readonly string[]): () => Promise<void> {
  const sandboxes = { QTWEBENGINE_DISABLE_SANDBOX: '1', WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }
  // Parts of browsers have no sandbox where root starts them.
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', ...sandboxes }
  const child = spawn(program, given, { env, stdio: 'ignore', detached: true })
  const exited = once(child, 'exit')
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-Number(child.pid), 'SIGKILL')
    await exited
  }
  t.teardown(close)
  return close
}
