import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfigInput, type OpenHooks, open, type Sallyport } from '@sallyport/engine'
import { openProxy } from '@sallyport/proxy'
import t from 'tap'
import { buildPage } from '../../build/page.ts'
import { openDemoSite } from '../../src/cli/demo/site.ts'
import { createHistory, type Door, openConsole, openDoor } from '../../src/console/index.ts'
import type { ConsoleHooks } from '../../src/console/routes/route.ts'
import { ADMIN, READER, readStatus } from './visits.ts'

export { until } from '../cli/command.ts'
export { ADMIN, READER, VISITOR } from './visits.ts'

/** Texts that mean something to a browser, a shell, a terminal or a database. */
export const NAUGHTY = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  "'; DROP TABLE accounts; --",
  '{{constructor.constructor("alert(3)")()}}',
  'javascript:alert(4)',
  '</title><svg/onload=alert(5)>',
  '\u202eevil\u202c ÅÄÖ 漢字 🏰 \u200b',
] as const

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

interface Visit {
  readonly userAgent: string
  readonly path: string
  readonly host: string
}

interface Period {
  readonly requests: number
}

export type Scene = Awaited<ReturnType<typeof openScene>>

/** The page is built and the embedded data compiled once for all tests of this workspace. */
const FOLDER = mkdtempSync(join(tmpdir(), 'sallyport-console-'))
const BUILT: { page?: Promise<void> | undefined } = {}
t.teardown(() => rmSync(FOLDER, { recursive: true }))

const EMBEDDED = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6']

/** Returns a configuration without embedded sources but these. */
export const keepSources = (...kept: readonly string[]) =>
  Object.fromEntries(EMBEDDED.filter((id) => !kept.includes(id)).map((id) => [id, { enabled: false }]))

/** Embedded sources switched off: for a scene in which the data does not matter. */
export const WITHOUT_DATA: ConfigInput = { data: { refresh: false, sources: keepSources() } }

const POLICY: ConfigInput['policy'] = {
  rules: [
    { id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' },
    { id: 'no-hosting-login', match: { networkClass: ['hosting'], path: ['/login'] }, action: 'block', monitor: true },
  ],
}

/** Opens a running proxy before its example site, with the embedded data, and its console. */
export async function openScene(
  {
    door = openDoor({ tokens: { admin: ADMIN, read: READER } }),
    ...hooks
  }: ConsoleHooks & { readonly door?: Door | undefined } = {},
  config: ConfigInput = {},
  world: Pick<OpenHooks, 'dns'> = {},
) {
  BUILT.page ??= buildPage(join(FOLDER, 'page'))
  await BUILT.page
  const history = createHistory(() => sallyport.meter.ended)
  const sallyport: Sallyport = await open(
    {
      dataDir: join(FOLDER, config.data === WITHOUT_DATA.data ? 'no-data' : 'data'),
      data: { refresh: false },
      log: { requests: 'off' },
      // No question leaves this machine: the port is the one of RFC 863, and no server listens.
      dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 },
      trustProxy: ['loopback'],
      policy: POLICY,
      ...config,
    },
    { ...world, observe: history.observe },
  )
  const onFault = (error: unknown) => process.emitWarning(String(error))
  const pages = openConsole({ sallyport, history, door, page: join(FOLDER, 'page'), ...hooks, onFault })
  const site = await openDemoSite()
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    upstream: site.url,
    adminPages: pages,
    timeouts: { drain: 100 },
  })
  const adminUrl = proxy.adminUrl ?? ''
  /** Asks the API of the console, by POST where there is a body; as a reader, unless a token says otherwise. */
  const ask = async (path: string, body?: unknown, token = READER) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${adminUrl}/console/api/${path}`, { headers, ...sent })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  return {
    sallyport,
    url: proxy.url,
    adminUrl,
    visit: (address: string, { userAgent = BROWSER, path = '/', host }: Partial<Visit> = {}) =>
      readStatus(proxy.url, path, { 'X-Forwarded-For': address, 'User-Agent': userAgent, ...(host && { Host: host }) }),
    ask,
    /** Asks for the day in short until it is what is wanted: counts are written every five seconds, and kept for as long. */
    async awaitToday(wanted: (now: Period | null, before: Period | null) => boolean) {
      for (;;) {
        const { body: today } = await ask('today')
        if (wanted(today.now, today.before)) return today
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    },
    async close() {
      await pages.close()
      await proxy.close('cut')
      await site.close()
      await sallyport.close()
    },
  }
}
