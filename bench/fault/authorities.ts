import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { makeCertificate } from '../proxy/certificate.ts'
import { resident } from '../proxy/processes.ts'
import { startSallyport } from '../proxy/sallyport.ts'
import { NO_DATA } from './gate.ts'
import { startChild } from './proxy/child.ts'
import { scratch } from './scratch.ts'

const WATCHED_MS = 1_000 * numberFlag('authority-seconds', 6)
const MAX_GROWTH_MB = 100
const ENDED_MS = 10_000

/** Ways in which an authority answers, or does not, where its directory is asked for. */
const AUTHORITIES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  silent: () => {},
  dripping: (response) => {
    const drip = setInterval(() => response.write(' '), 100)
    response.once('close', () => clearInterval(drip))
  },
  endless: (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) {}
    }
    response.on('drain', more)
    more()
  },
  nonsense: (response) => void response.end('{"newNonce":7}'),
}

/** A certificate is ordered of authorities that are silent or have no end: visitors are served, memory is bounded, and SIGTERM ends it. */
export async function faultAuthorities(): Promise<Measured> {
  const broken: string[] = []
  let growth = 0
  let slowest = 0
  for (const [name, answer] of Object.entries(AUTHORITIES)) {
    await scratch(async (folder, { teardown }) => {
      let asked = 0
      const authority = createServer((_, response) => {
        asked++
        answer(response)
      }).listen(0, '127.0.0.1')
      await once(authority, 'listening')
      teardown(() => authority.close().closeAllConnections())
      const directory = `http://127.0.0.1:${(authority.address() as AddressInfo).port}/dir`
      const origin = await startChild<number>('origin.js')
      teardown(() => origin.stop())
      const dataDir = join(folder, 'gate')
      await mkdir(dataDir)
      const proxy = await startSallyport({
        folder,
        dataDir,
        upstream: `http://127.0.0.1:${origin.ready}`,
        raised: {
          data: { refresh: false, sources: NO_DATA },
          http: '127.0.0.1:0',
          timeouts: { drain: 0 },
          tls: {
            certificates: [await makeCertificate(folder)],
            acme: { domains: ['site.example'], email: 'ops@site.example', directory },
          },
        },
      })
      teardown(() => proxy.stop())
      const before = resident(proxy.pid)
      for (const until = performance.now() + WATCHED_MS; performance.now() < until; await delay(100)) {
        growth = Math.max(growth, resident(proxy.pid) - before)
        const { status } = await fetch(`${proxy.admin}/readyz`).catch(() => ({ status: 0 }))
        if (status !== 200) broken.push(`${name}: not ready (${status})`)
      }
      if (asked === 0) broken.push(`${name}: was not asked`)
      if (/Cannot read|undefined/.test(proxy.said())) broken.push(`${name}: ${proxy.said()}`)
      const start = performance.now()
      process.kill(proxy.pid, 'SIGTERM')
      while (proxy.running() && performance.now() < start + 2 * ENDED_MS) await delay(10)
      slowest = Math.max(slowest, Math.round(performance.now() - start))
    })
  }
  if (growth > MAX_GROWTH_MB) broken.push(`memory grows by ${Math.round(growth)} MB`)
  if (slowest > ENDED_MS) broken.push(`gone ${slowest} ms after SIGTERM`)
  const kinds = Object.keys(AUTHORITIES).join(', ')
  return {
    measured: `${kinds}: memory grows by ${Math.round(growth)} MB at the most, gone ${slowest} ms after SIGTERM`,
    broken,
  }
}
