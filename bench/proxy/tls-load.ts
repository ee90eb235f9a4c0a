import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { browserFields } from '../browser.ts'
import { visitorAddresses } from '../visitors.ts'
import type { Shot } from './load.ts'
import { isInstalled } from './program.ts'

/** Below what one client may have in flight. */
const SESSIONS = 8
const STREAMS = 8

/** New connections, each with a whole handshake and nothing after it. */
export async function shakeHands(url: string, seconds: number, processor: number): Promise<Shot> {
  const child = fork(join(import.meta.dirname, 'handshakes.js'), [url, String(seconds)], {
    execPath: 'taskset',
    execArgv: ['--cpu-list', String(processor), process.execPath],
  })
  const [shot] = (await once(child, 'message')) as [Shot]
  return shot
}

export const MISSING_HTTP2_LOAD = isInstalled('h2load') ? undefined : 'h2load is not installed'

/** Requests of one browser over a few HTTP/2 connections, by `h2load`. */
export async function askOverHttp2(url: string, seconds: number, processor: number): Promise<Shot> {
  const [visitor = ''] = visitorAddresses(1)
  const fields = browserFields(visitor)
  const headers: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    if (name !== 'host' && name !== 'connection') headers.push('-H', `${name}: ${fields[at + 1]}`)
  }
  const args = [`-c${SESSIONS}`, `-m${STREAMS}`, '-t1', `--duration=${seconds}`, '--warm-up-time=1', ...headers, url]
  const pinned = ['--cpu-list', String(processor), 'h2load', ...args]
  const { stdout } = await promisify(execFile)('taskset', pinned, { maxBuffer: 1 << 24 })
  const read = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? Number.NaN)
  const done = read(/requests: (\d{1,12}) total/)
  const errors = read(/, (\d{1,12}) failed/) + read(/(\d{1,12}) 4xx/) + read(/(\d{1,12}) 5xx/)
  return { requests: done, seconds, p50: Number.NaN, p99: Number.NaN, errors }
}
