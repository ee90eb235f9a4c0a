import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { SOURCES } from '@sallyport/data/sources'
import type { ConfigInput } from '@sallyport/engine'
import { type Cleanup, listening } from '@sallyport/engine/testing'
import { listChildren } from '../proxy/processes.ts'
import { runCommand, type Sallyport } from '../proxy/sallyport.ts'

/* Chores beside the requests: lists change, keys are rotated, a configuration that is read again, workers that die. */

/** How often each was done. */
export interface Done {
  listChanges: number
  reloads: number
  apiKeys: number
  signingKeys: number
  deaths: number
}

const LISTED = 'tor-bulk-exit'
const ENTRIES = 2_000

/** Publishes one list, which can change. */
export interface Publisher {
  /** The configuration requests no other list. */
  readonly data: ConfigInput['data']
  /** Replaces the list. */
  change(): void
  /** Counts the downloads of the list. */
  readonly downloads: () => number
}

export async function openPublisher(cleanup: Cleanup): Promise<Publisher> {
  let edition = 0
  let downloads = 0
  const server = createServer((request, response) => {
    const etag = `"${edition}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
    downloads++
    const entries = Array.from(
      { length: ENTRIES },
      (_, at) => `185.${220 + (at >>> 8)}.${at & 255}.${1 + (edition & 127)}`,
    )
    response.writeHead(200, { etag }).end(`${entries.join('\n')}\n`)
  })
  const shipped = SOURCES.filter((row) => 'package' in row).map(({ id }) => id)
  const off = SOURCES.filter(({ id }) => !shipped.includes(id) && id !== LISTED).map(({ id }) => [
    id,
    { enabled: false },
  ])
  const url = `http://127.0.0.1:${await listening(cleanup, server)}/list`
  return {
    data: { refresh: true, sources: { ...Object.fromEntries(off), [LISTED]: { url } } },
    change: () => void edition++,
    downloads: () => downloads,
  }
}

export interface Chores {
  readonly done: Readonly<Done>
  /** Rejects with what failed. */
  stop(): Promise<void>
}

export interface ChoresOptions {
  readonly proxy: Sallyport
  /** The run never kills this worker, and measures what it holds. */
  readonly kept: number
  /** Options of Node for commands, which must have the same clock. */
  readonly node: readonly string[]
  changeList(): void
  useKey(key: string): void
  expectDeath(): void
  /** Chores of one kind begin this many seconds apart. */
  readonly every: Readonly<Record<keyof Done, number>>
}

/** Creates a key for the given account and returns its public ID and its text. */
export async function createKey(
  file: string,
  node: readonly string[],
  account: readonly string[] = ['--plan', 'enterprise'],
): Promise<{ readonly id: string; readonly key: string; readonly account: { readonly id: string } }> {
  return JSON.parse(await runCommand(['keys', 'create', ...account, '--json', '--config', file], node))
}

/** Requests with the old key have their answers after this time. */
const IN_FLIGHT_MS = 10_000

export function startChores(options: ChoresOptions, first: Awaited<ReturnType<typeof createKey>>): Chores {
  const { proxy, kept, node, every } = options
  const { file } = proxy
  const done: Done = { listChanges: 0, reloads: 0, apiKeys: 0, signingKeys: 0, deaths: 0 }
  const ending = new AbortController()
  let current = first
  const work: Readonly<Record<keyof Done, () => Promise<void> | void>> = {
    listChanges: () => options.changeList(),
    reloads() {
      const config = JSON.parse(readFileSync(file, 'utf8')) as { policy: { allowlist: string[] } }
      config.policy.allowlist = [`192.0.2.${done.reloads & 255}/32`]
      writeFileSync(file, JSON.stringify(config))
      process.kill(proxy.pid, 'SIGHUP')
    },
    async apiKeys() {
      const old = current
      current = await createKey(file, node, ['--account', old.account.id])
      options.useKey(current.key)
      await delay(IN_FLIGHT_MS)
      await runCommand(['keys', 'revoke', old.id, '--config', file], node)
    },
    async signingKeys() {
      await runCommand(['keys', 'rotate-signing', '--config', file], node)
    },
    deaths() {
      const victim = listChildren(proxy.pid).find((pid) => pid !== kept)
      if (victim === undefined) return
      options.expectDeath()
      process.kill(victim, 'SIGKILL')
    },
  }
  const repeat = async (name: keyof Done): Promise<void> => {
    const pause = () =>
      delay(every[name] * 1_000, undefined, { signal: ending.signal }).then(
        () => true,
        () => false,
      )
    while (await pause()) {
      await work[name]()
      done[name]++
    }
  }
  const running = Promise.all((Object.keys(work) as (keyof Done)[]).map(repeat))
  // Failures are found at the end.
  running.catch(() => {})
  return {
    done,
    async stop() {
      ending.abort()
      await running
    },
  }
}
