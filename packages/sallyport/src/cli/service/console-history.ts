import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, Known } from '@sallyport/engine'

type Place = Known['places'][number]

const WAIT_MS = 3_000

const PLACE = { place: 'console history', kept: 'the last 4,000 requests of each process, in memory' } as const

/** A running service's history of an address, asked of its console, because it is in memory. */
export async function consoleKnown(config: Config, address: string): Promise<Place> {
  const where = config.admin ?? '127.0.0.1:9090'
  const said = { ...PLACE, where }
  if (!config.console.enabled) return { ...said, state: 'absent', entries: [] }
  const url = new URL(`http://${where}/console/api/requests`)
  url.search = new URLSearchParams({ text: address, limit: '500' }).toString()
  const token = tokenOf(config)
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(WAIT_MS) })
    if (!answer.ok) return { ...said, state: 'elsewhere', reason: `the console answered ${answer.status}`, entries: [] }
    const entries = entriesOf(await answer.json()).filter(({ client }) => client === address)
    const form = config.log.addresses
    if (form === 'full') return { ...said, state: 'read', entries }
    const reason = `the console shows addresses as log.addresses has them: ${form}`
    return { ...said, state: 'elsewhere', reason, entries }
  } catch {
    // A service that does not run remembers nothing.
    return {
      ...said,
      state: 'elsewhere',
      reason: 'no service answers there; what one remembers goes with it',
      entries: [],
    }
  }
}

/** It cannot be erased from: it is in memory, and short. */
export function consoleErased(config: Config) {
  const reason = `${PLACE.kept}: it goes with later requests, or a restart`
  const state = config.console.enabled ? ('kept' as const) : ('absent' as const)
  return { place: PLACE.place, where: config.admin ?? '127.0.0.1:9090', state, reason, erased: 0 }
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

function entriesOf(body: unknown): readonly { readonly client?: unknown }[] {
  const { requests } = body as { readonly requests?: unknown }
  return Array.isArray(requests) ? requests : []
}
