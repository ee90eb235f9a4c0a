import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { open } from '@sallyport/engine'
import type { Measured } from '../promises.ts'
import { visitorAddresses } from '../visitors.ts'
import { NO_DATA } from './gate.ts'
import { scratch } from './scratch.ts'

const CLAIMS = 20_000
const CHECKS = 20
const CHECK_MS = 2_500
/** The longest a decision may take. */
const MAX_US = 50
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

/** A name server that takes questions and answers none. */
export function faultDns(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const sink = createSocket('udp4').bind(0, '127.0.0.1')
    await once(sink, 'listening')
    cleanup.teardown(() => sink.close())
    const sallyport = await open(
      {
        dataDir: folder,
        data: { refresh: false, sources: NO_DATA },
        dns: { servers: [`127.0.0.1:${sink.address().port}`] },
      },
      { onFault: () => {} },
    )
    const addresses = visitorAddresses(CLAIMS)
    const request = (peer: string, userAgent: string) =>
      ({
        peer,
        method: 'GET',
        target: '/',
        scheme: 'http' as const,
        httpVersion: '1.1',
        fields: ['Host', 'a.example', 'User-Agent', userAgent],
      }) as const
    /** Microseconds of processor time of a decision, with what it starts; the loop turns between them, as between requests. */
    const costOf = async (userAgent: string) => {
      const before = process.cpuUsage()
      for (const [at, address] of addresses.entries()) {
        sallyport.decide(request(address, userAgent))
        if (at % 100 === 0) await new Promise(setImmediate)
      }
      const { user, system } = process.cpuUsage(before)
      return (user + system) / addresses.length
    }
    const { key } = await sallyport.keyring.issue({ plan: 'enterprise' })
    const said = new Set<unknown>()
    /** Milliseconds until a customer has an answer about a claim. */
    const check = async (address: string): Promise<number> => {
      const start = performance.now()
      const path = '/v1/crawlers/verify'
      const response = await sallyport.api({
        ...request(address, GOOGLEBOT),
        method: 'POST',
        target: path,
        path,
        query: new URLSearchParams(),
        fields: ['Authorization', `Bearer ${key}`, 'Content-Type', 'application/json'],
        json: async () => ({ ip: address, user_agent: GOOGLEBOT }),
      })
      const body = typeof response?.body === 'string' ? JSON.parse(response.body) : {}
      said.add(`${response?.status} ${body.status ?? body.verdict ?? body.outcome}`)
      return performance.now() - start
    }
    const slowestOf = async (asked: readonly string[]) => Math.max(...(await Promise.all(asked.map(check))))
    const quiet = await slowestOf(addresses.slice(0, CHECKS))
    await costOf('Mozilla/5.0')
    const before = await costOf('Mozilla/5.0 (X11)')
    const during = await costOf(GOOGLEBOT)
    const busy = await slowestOf(addresses.slice(CHECKS, 2 * CHECKS))
    await sallyport.close()
    return {
      measured: `a decision takes ${before.toFixed(1)} µs of processor time about browsers, ${during.toFixed(1)} µs about claims; a check takes ${Math.round(quiet)} ms at the most, ${Math.round(busy)} ms after those claims: ${[...said].join(', ')}`,
      broken: [
        ...(during > MAX_US ? [`a decision takes more than ${MAX_US} µs`] : []),
        ...(Math.max(quiet, busy) > CHECK_MS ? [`a check takes more than ${CHECK_MS} ms`] : []),
        ...([...said].every((text) => text === '200 unverifiable') ? [] : ['a check says something else']),
      ],
    }
  })
}
