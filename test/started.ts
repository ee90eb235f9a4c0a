import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { ROOT } from './workspaces.ts'

/** A program that has not said a text by then says another one: its test fails with what it said, instead of hanging. */
const MAX_WAIT_MS = 240_000

/** Starts a program that says where it listens; resolves once it has said `until`. */
export async function started(t: Test, argv: readonly string[], env: Readonly<Record<string, string>>, until: string) {
  const child = spawn(process.execPath, [...argv], {
    cwd: ROOT,
    env: { ...process.env, SALLYPORT_DNS_SERVERS: '127.0.0.1:9', ...env },
  })
  const ended = once(child, 'close')
  t.teardown(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stderr.on('data', (text) => {
    err += text
  })
  child.stdout.on('data', (text) => {
    out += text
  })
  while (!`${out}\n${err}`.includes(until)) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${err}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    pid: child.pid ?? 0,
    out: () => out,
    err: () => err,
    /** Makes it read its configuration again; resolves once it says so, or that it keeps the one before. */
    async reload(said = 'configuration reloaded') {
      child.kill('SIGHUP')
      const begun = performance.now()
      while (!err.includes(said)) {
        if (performance.now() - begun > MAX_WAIT_MS) throw new Error(`never said "${said}": ${err}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async stop() {
      child.kill('SIGINT')
      return (await ended)[0]
    },
  }
}
