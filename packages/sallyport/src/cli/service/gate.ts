import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '@sallyport/engine'
import { OWN_FILE, replaceFile } from '@sallyport/engine/files'
import { readerFields, readTokens } from '#console'
import { isWorker } from '../workers/worker.ts'
import { hasProof } from './admin-proof.ts'

const WAIT_MS = 3_000

const SCHEME = 'http://'

/** The address of the admin listener by default: none is configured. */
export const ADMIN = '127.0.0.1:9090'

/** A file in the dataDir that names the admin listener and the process of the gate that runs on it. */
const ADDRESS_FILE = 'admin-address'

/** The answer of a running gate's console, and its address; or the reason why there is none. */
type GateAnswer = { readonly body: unknown; readonly where: string } | { readonly reason: string }

/** Writes the admin listener's address for commands on this machine; does nothing where the dataDir is read-only. */
export async function noteAdmin(dataDir: string, url: string): Promise<void> {
  // Workers come and go, but their primary stays.
  const pid = isWorker() ? process.ppid : process.pid
  await replaceFile(join(dataDir, ADDRESS_FILE), `${JSON.stringify({ url, pid })}\n`, OWN_FILE).catch(() => {})
}

/** Deletes the note of this process: another service on the dataDir may have written its own. */
export function forgetAdmin(dataDir: string): void {
  try {
    const file = join(dataDir, ADDRESS_FILE)
    if (readNote(file)?.pid === process.pid) rmSync(file)
  } catch {
    // The next command finds that the process has ended.
  }
}

/** The admin listener of a running gate: its URL, its local `host:port`, and whether it proved itself; or why there is none. */
export type FoundGate =
  | { readonly url: string; readonly where: string; readonly isProven: boolean }
  /** `isNoted`: a gate ran on the dataDir and did not delete its note. */
  | { readonly reason: string; readonly isNoted: boolean }

/**
 * Finds the gate that runs on the dataDir of a configuration. Another program may have taken its address since, so the listener proves
 * itself before a command sends it a secret or prints a link to it. Only a read-only dataDir uses the configured address without a proof.
 */
export async function findGate({ admin = ADMIN, dataDir, data }: Config): Promise<FoundGate> {
  const note = readNote(join(dataDir, ADDRESS_FILE))
  const isRunning = note !== undefined && isAlive(note.pid)
  if (!isRunning && data.readOnly) return { url: `${SCHEME}${admin}`, where: reach(admin), isProven: false }
  if (note === undefined) return { reason: `no gate runs on ${dataDir}`, isNoted: false }
  const { url } = note
  const host = url.slice(SCHEME.length)
  if (!isRunning) return { reason: `no gate runs on ${dataDir} (the gate at ${host} ended)`, isNoted: true }
  const where = reach(host)
  try {
    if (await hasProof(dataDir, url, where, WAIT_MS)) return { url, where, isProven: true }
    return { reason: `the program that listens on ${where} is not the gate of ${dataDir}`, isNoted: true }
  } catch {
    return { reason: `no gate responds on ${where}`, isNoted: true }
  }
}

function reach(host: string): string {
  return host.replace(/^(?:0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')
}

function readNote(file: string): { readonly url: string; readonly pid: number } | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(file, 'utf8'))
    return String(url).startsWith(SCHEME) ? { url, pid } : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Asks the console of the gate that runs with this configuration, as a reader: only the gate's memory has the answer. */
export async function askGate(config: Config, path: string, query: Record<string, string>): Promise<GateAnswer> {
  if (!config.console.enabled) return { reason: 'console.enabled is false, so the gate keeps no requests in memory' }
  const gate = await findGate(config)
  if ('reason' in gate) return gate
  const { where } = gate
  const url = `${SCHEME}${where}/console/api/${path}?${new URLSearchParams(query)}`
  try {
    const headers = readerFields(readTokens(config.dataDir, config.console).tokens)
    const answer = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(WAIT_MS) })
    if (answer.ok) return { body: await answer.json(), where }
    return { reason: `the console at ${where} responded with ${answer.status}` }
  } catch {
    return { reason: `no gate responds on ${where}` }
  }
}
