import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { ROOT } from './workspaces.ts'

export const BIN = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')

/** The commands of this repository are found without `npx`. */
export const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`

/** A program that has not said a text by then says another one: its test fails with what it said, instead of hanging. */
const MAX_WAIT_MS = 240_000

/** A database may leave a file behind while its folder goes. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const
const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, REMOVAL)
})

/** Makes a folder outside of the repository, whose packages would be found otherwise. It is removed with the test or the process. */
export function makeFolder(t?: Test): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'sallyport-test-'))
  if (t === undefined) folders.push(folder)
  else t.teardown(() => rmSync(folder, REMOVAL))
  return folder
}

/** Writes a file into a folder and returns its path. */
export function writeIn(folder: string, name: string, content: string | Uint8Array): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

/** Starts a program that says where it listens; resolves once it has said `until`. */
export async function started(
  t: Test,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  until: string,
  cwd = ROOT,
) {
  const child = spawn(process.execPath, [...argv], {
    cwd,
    env: { ...process.env, SALLYPORT_DNS_SERVERS: '127.0.0.1:9', ...env },
  })
  const ended = once(child, 'close')
  t.teardown(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stderr.on('data', (text) => (said.err += text))
  child.stdout.on('data', (text) => (said.out += text))
  while (!`${said.out}\n${said.err}`.includes(until)) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${said.err}`)
    await delay(20)
  }
  return {
    pid: child.pid ?? 0,
    out: () => said.out,
    err: () => said.err,
    /** Makes it read its configuration again; resolves once it says so, or that it keeps the one before. */
    async reload(text = 'configuration reloaded') {
      child.kill('SIGHUP')
      const begun = performance.now()
      while (!said.err.includes(text)) {
        if (performance.now() - begun > MAX_WAIT_MS) throw new Error(`never said "${text}": ${said.err}`)
        await delay(20)
      }
    },
    async stop() {
      child.kill('SIGINT')
      return (await ended)[0]
    },
  }
}
