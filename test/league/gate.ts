import { createServer } from 'node:http'
import type { Decision, InspectionRequest, PresetName } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { openProxy } from '@sallyport/proxy'
import type { certificate as makeCertificate } from '../certificate.ts'
import { running } from '../hosts/host.ts'
import { openRelay } from '../relay.ts'

/** Real addresses, each of a class that the embedded data knows: Hetzner, Mullvad and Comcast. */
export const NETWORKS = { hosting: '5.9.10.20', VPN: '193.138.218.10', home: '73.162.10.20' } as const
export type Network = keyof typeof NETWORKS

/** One request for a page, as the gate received it, and what it decided. */
export interface Asked {
  readonly request: InspectionRequest
  readonly decision: Decision
}

/** One visit of a tool: its requests for pages in their order, and how many of the pages the site served. */
export interface Visit {
  readonly asked: readonly Asked[]
  readonly served: number
  /** The gate ended the visit, because it refused too many requests in a row. */
  readonly ended: boolean
}

/** So many refusals in a row end a visit: further requests would have the same outcome. */
const MAX_REFUSED = 20

export type Gate = Awaited<ReturnType<typeof openGate>>

const PAGE = '<!doctype html><html lang="en"><title>Page</title><h1>Page</h1><link rel="icon" href="data:,">'

/** Opens a gate with one preset before a site of pages, over TLS, with a front for each network. */
export async function openGate(preset: PresetName, dataDir: string, certificate: ReturnType<typeof makeCertificate>) {
  const served = new Set<string>()
  const asked: Asked[] = []
  let refused = 0
  let end = (): void => {}
  const answering = createServer((request, response) => {
    if (isPage(request.url)) served.add(String(request.url))
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(PAGE)
  })
  const site = await running(answering)
  const clock = createVisitClock()
  const quiet = { data: { refresh: false }, net: { outbound: false }, log: { requests: 'off' } } as const
  const config = { dataDir, trustProxy: ['loopback'], policy: { preset }, ...quiet }
  const sallyport = await open(config, { clock, onNotice: () => {} })
  const proxy = await openProxy(sallyport, {
    ...sallyport.config,
    upstream: `http://127.0.0.1:${site.port}`,
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    proxyProtocol: 'v1',
    tls: { certificates: [certificate] },
    // A tool that keeps this machine busy is no reason to refuse its requests.
    limits: { eventLoopDelay: '1m' },
    onDecision: (decision, request) => {
      if (!isPage(request.target)) return
      asked.push({ request, decision })
      refused = decision.action === 'allow' || decision.action === 'flag' ? 0 : refused + 1
      if (refused === MAX_REFUSED) end()
    },
  })
  return {
    /** Counts what a function causes as one visit, in an hour of its own of the service's clock. */
    async visit(network: Network, run: (base: string) => Promise<void>): Promise<Visit> {
      const relay = await openRelay(proxy.url, NETWORKS[network])
      let closed: Promise<void> | undefined
      end = () => {
        closed ??= relay.close()
      }
      clock.beginHour()
      served.clear()
      asked.length = 0
      refused = 0
      await run(`https://localhost:${relay.port}`)
      const ended = closed !== undefined
      end()
      await closed
      return { asked: [...asked], served: served.size, ended }
    },
    async close() {
      await proxy.close('cut')
      await sallyport.close()
      await site.close()
    },
  }
}

function isPage(path: string | undefined): boolean {
  return path?.startsWith('/page/') === true
}

const HOUR = 3_600_000

/** A clock that goes as the machine's does, and on which each visit begins with a new hour, when nothing is counted any more. */
function createVisitClock() {
  let ahead = 0
  const now = (): number => Date.now() + ahead
  return {
    now,
    beginHour() {
      ahead += HOUR - (now() % HOUR)
    },
  }
}
