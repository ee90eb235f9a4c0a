import { join } from 'node:path'
import type { Decision } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import { openProxy } from '@sallyport/proxy'
import type { Test } from 'tap'
import { certificate } from '../certificate.ts'
import { openWithoutData } from '../hosts/without-data.ts'
import { openRelay } from '../relay.ts'
import { makeFolder } from '../started.ts'
import { type Arrived, openOrigin } from './origin.ts'

export { NO_OPENSSL } from '../hosts/protocols.ts'

/** An address of a household, which every client of these tests has. */
const HOME = '73.162.10.20'

/** Connects real clients to an origin through the real proxy, all on loopback. */
export interface Gate {
  /** A folder of the client's own, removed with the test. */
  readonly home: string
  readonly url: string
  /** The same over TLS, with a certificate that only the test knows. */
  readonly secure: string
  readonly decided: readonly Decision[]
}

/** A gate before the origin of these tests. `/blocked` is refused to everybody, `/asked/2` asks at level 2. */
export interface Site extends Gate {
  /** Lists the requests since the last call: method, target and the client's class. */
  since(): readonly string[]
  readonly arrived: readonly Arrived[]
}

export async function openSite(
  t: Test,
  files: ReadonlyMap<string, Buffer> = new Map(),
  more: Partial<ConfigInput> = {},
): Promise<Site> {
  const home = makeFolder(t)
  const origin = await openOrigin(t, files, home)
  const gate = await openGate(t, home, origin.url, {
    ...more,
    policy: {
      preset: 'low-friction',
      rules: [
        { id: 'closed', match: { path: ['/blocked', '/blocked/**'] }, action: 'block' },
        ...([1, 2, 3] as const).map((level) => ({
          id: `ask-${level}`,
          match: { path: [`/asked/${level}`, `/asked/${level}/**`] },
          action: 'challenge' as const,
          challenge: { level },
        })),
      ],
    },
  })
  let told = 0
  return {
    ...gate,
    arrived: origin.arrived,
    since() {
      const rows = gate.decided.slice(told).map(({ inspection: { request, agent }, action }) => {
        return `${request.method} ${request.path} ${agent.class} ${action}`
      })
      told = gate.decided.length
      return rows
    },
  }
}

export async function openGate(t: Test, home: string, upstream: string, more: Partial<ConfigInput>): Promise<Gate> {
  const own = { dataDir: join(home, 'state'), refusal: { contact: 'help@site.example' } }
  const sallyport = await openWithoutData(t, { ...own, ...more }, { onNotice: () => {} })
  const decided: Decision[] = []
  const options = {
    ...sallyport.config,
    upstream,
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    proxyProtocol: 'v1',
    limits: { eventLoopDelay: '1m' },
    onDecision: (decision: Decision) => decided.push(decision),
  } as const
  const ports: number[] = []
  for (const tls of [undefined, { certificates: [certificate(home)] }]) {
    const proxy = await openProxy(sallyport, { ...options, tls })
    t.teardown(() => proxy.close('cut'))
    const relay = await openRelay(proxy.url, HOME)
    t.teardown(() => relay.close())
    ports.push(relay.port)
  }
  return { home, url: `http://127.0.0.1:${ports[0]}`, secure: `https://localhost:${ports[1]}`, decided }
}
