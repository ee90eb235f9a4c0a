import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConfigInput } from '@sallyport/engine'
import type { Cleanup } from '@sallyport/engine/testing'
import { runCommand, type Sallyport, startSallyport } from '../proxy/sallyport.ts'
import { startChild } from './proxy/child.ts'

/** Nothing is known of any network: a start takes less than a second. */
export const NO_DATA = Object.fromEntries(
  ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6'].map((id) => [
    id,
    { enabled: false },
  ]),
)

/** Outcome of a request; 0 is none. */
export interface Told {
  readonly status: number
  readonly id?: number | undefined
  readonly headers: Headers
}

/** A proxy with an origin, and a customer of its /v1. */
export interface Gate {
  readonly proxy: Sallyport
  readonly dataDir: string
  /** Store of the accounts, which is not in `dataDir`. */
  readonly store: string
  readonly account: { readonly id: string; readonly signupDate: string }
  /** A visitor asks for a page. */
  visit(path?: string): Promise<Told>
  /** The customer asks what kind of network an address has. */
  lookUp(): Promise<Told>
  /** The customer asks for a record of a judgement. */
  attest(): Promise<Told>
}

export interface GateOptions {
  /** A command that runs the proxy. */
  readonly under?: ((dataDir: string) => readonly string[]) | undefined
  readonly config?: ConfigInput | undefined
  readonly plan?: readonly string[] | undefined
}

const PATIENCE_MS = 15_000

export async function openGate(folder: string, { teardown }: Cleanup, options: GateOptions = {}): Promise<Gate> {
  const { under = () => [], config = {}, plan = ['--plan', 'enterprise'] } = options
  const origin = await startChild<number>('origin.js')
  teardown(() => origin.stop())
  const dataDir = join(folder, 'gate')
  await mkdir(dataDir, { recursive: true })
  const store = `sqlite:${join(folder, 'accounts.db')}`
  const raised = { ...config, data: { refresh: false, sources: NO_DATA }, store }
  const proxy = await startSallyport({
    folder,
    dataDir,
    upstream: `http://127.0.0.1:${origin.ready}`,
    trustProxy: ['loopback'],
    raised,
    under: under(dataDir),
  })
  teardown(() => proxy.stop())
  const { key, account } = JSON.parse(await runCommand(['keys', 'create', ...plan, '--json', '--config', proxy.file]))
  const authorization = `Bearer ${key}`
  const ask = async (path: string, init: RequestInit = {}): Promise<Told> => {
    try {
      const response = await fetch(proxy.url + path, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
      const text = await response.text()
      const id = path.startsWith('/v1/provenance') && response.ok ? JSON.parse(text).attestation_id : undefined
      return { status: response.status, headers: response.headers, id }
    } catch {
      return { status: 0, headers: new Headers() }
    }
  }
  return {
    proxy,
    dataDir,
    store,
    account,
    visit: (path = '/') => ask(path),
    lookUp: () => ask('/v1/vpn/192.0.2.1', { headers: { authorization } }),
    attest: () =>
      ask('/v1/provenance/check', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ ip: '192.0.2.1', claimed_jurisdiction: 'DE' }),
      }),
  }
}
