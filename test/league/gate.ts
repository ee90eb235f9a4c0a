import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Decision, InspectionRequest, PresetName } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { openProxy } from '@sallyport/proxy'
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

/** Opens a gate with one preset before a site of pages, over TLS, with a front for each network. */
export interface Gate {
  /** Counts what a function causes as one visit, in a minute of its own of the service's clock. */
  visit(network: Network, run: (base: string) => Promise<void>): Promise<Visit>
  close(): Promise<void>
}

export interface GateOptions {
  readonly preset: PresetName
  readonly dataDir: string
  readonly certificate: { readonly cert: string; readonly key: string }
}

const PAGE = '<!doctype html><html lang="en"><title>Page</title><h1>Page</h1><link rel="icon" href="data:,">'

export async function openGate({ preset, dataDir, certificate }: GateOptions): Promise<Gate> {
  const served = new Set<string>()
  const asked: Asked[] = []
  let refused = 0
  let end = (): void => {}
  const site = createServer((request, response) => {
    if (isPage(request.url)) served.add(String(request.url))
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(PAGE)
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  const clock = createVisitClock()
  const sallyport = await open(
    {
      dataDir,
      data: { refresh: false },
      net: { outbound: false },
      log: { requests: 'off' },
      trustProxy: ['loopback'],
      policy: { preset },
    },
    { clock, onNotice: () => {} },
  )
  const proxy = await openProxy(sallyport, {
    ...sallyport.config,
    upstream: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
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
    async visit(network, run) {
      const relay = await openRelay(proxy.url, NETWORKS[network])
      let closed: Promise<void> | undefined
      end = () => {
        closed ??= relay.close()
      }
      clock.beginMinute()
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
      site.closeAllConnections()
      site.close()
      await once(site, 'close')
    },
  }
}

function isPage(path: string | undefined): boolean {
  return path?.startsWith('/page/') === true
}

/** A clock that goes as the machine's does, and on which each visit begins with a new hour, when nothing is counted any more. */
function createVisitClock() {
  const HOUR = 3_600_000
  let ahead = 0
  const now = (): number => Date.now() + ahead
  return {
    now,
    beginMinute() {
      ahead += HOUR - (now() % HOUR)
    },
  }
}
