import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '@sallyport/engine'

const WAIT_MS = 3_000

/** The answer of a running gate's console, or why there is none. */
export type GateAnswer = { readonly body: unknown } | { readonly reason: string }

/** The admin listener of a configuration, as a command on this machine reaches it. */
export function adminOf({ admin = '127.0.0.1:9090' }: Config): string {
  return admin.replace(/^(?:0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')
}

/** Asks the console of the gate that runs with this configuration, with its token: what it remembers is in memory. */
export async function askGate(
  config: Config,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<GateAnswer> {
  if (!config.console.enabled) return { reason: 'console.enabled is false, so that a gate remembers nothing' }
  const where = adminOf(config)
  const url = new URL(`http://${where}/console/api/${path}`)
  url.search = new URLSearchParams(query).toString()
  const token = tokenOf(config)
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(WAIT_MS) })
    return answer.ok ? { body: await answer.json() } : { reason: `the console at ${where} answered ${answer.status}` }
  } catch {
    return { reason: `no gate answers at ${where}` }
  }
}

function tokenOf({ console, dataDir }: Config): string | undefined {
  const { adminToken, readToken } = console
  if (adminToken !== undefined || readToken !== undefined) return adminToken ?? readToken
  try {
    return readFileSync(join(dataDir, 'console-token'), 'utf8').trim()
  } catch {
    return undefined
  }
}
