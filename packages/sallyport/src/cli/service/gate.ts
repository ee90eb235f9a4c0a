import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '@sallyport/engine'
import { readerFields, readTokens } from '#console'

const WAIT_MS = 3_000

/** Address of the admin listener where none is configured. */
export const ADMIN = '127.0.0.1:9090'

/** File in the dataDir that names the admin listener of the gate that runs on it, and its process. */
const ADDRESS_FILE = 'admin-address'

/** The answer of a running gate's console, and where it listens; or why there is none. */
export type GateAnswer = { readonly body: unknown; readonly where: string } | { readonly reason: string }

/** Notes the address of the admin listener for commands on this machine; does nothing where the dataDir can only be read. */
export function noteAdmin(dataDir: string, url: string, pid: number): void {
  const file = join(dataDir, ADDRESS_FILE)
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, `${JSON.stringify({ url, pid })}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    rmSync(draft, { force: true })
  }
}

/** Takes the note of this process away: another service on the dataDir may have written its own. */
export function forgetAdmin(dataDir: string): void {
  try {
    const file = join(dataDir, ADDRESS_FILE)
    if (readNote(file).pid === process.pid) rmSync(file)
  } catch {
    // There is none, or the next command finds that the process has ended.
  }
}

/**
 * Returns the admin listener of the gate that runs on the dataDir of a configuration. Another program may listen on the configured
 * address, so only a dataDir that nothing is written to uses the configuration.
 */
function findAdmin({ admin = ADMIN, dataDir, data }: Config): string | undefined {
  const noted = notedAt(join(dataDir, ADDRESS_FILE))
  const named = noted === undefined && data.readOnly ? admin : noted
  return named?.replace(/^(?:0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')
}

function readNote(file: string): { readonly url: string; readonly pid: number } {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The noted address, where its process is there. */
function notedAt(file: string): string | undefined {
  try {
    const { url, pid } = readNote(file)
    return isAlive(pid) ? new URL(url).host : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Asks the console of the gate that runs with this configuration, as a reader: what it remembers is in memory. */
export async function askGate(
  config: Config,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<GateAnswer> {
  if (!config.console.enabled) return { reason: 'console.enabled is false, so that a gate remembers nothing' }
  const where = findAdmin(config)
  if (where === undefined) return { reason: `no gate runs on ${config.dataDir}` }
  const url = new URL(`http://${where}/console/api/${path}`)
  url.search = new URLSearchParams(query).toString()
  try {
    const headers = readerFields(readTokens(config.dataDir, config.console).tokens)
    const answer = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(WAIT_MS) })
    return answer.ok
      ? { body: await answer.json(), where }
      : { reason: `the console at ${where} answered ${answer.status}` }
  } catch {
    return { reason: `no gate answers at ${where}` }
  }
}
