import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { open } from '@sallyport/engine'
import { listener } from '@sallyport/node'
import { type Browser, chromium, type Page } from 'playwright-core'
import { counted, type Figure, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { median } from '../report/statistics.ts'
import { hashesOf } from './solve.ts'

/** Debian's; no other browser is downloaded. */
export const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium'

/** Visitors from an address of no network that is known. */
const ADDRESS = '93.184.216.34'
const SLOWED = 20
const WANTED = 'the wanted page'

/** The page in Chromium, with its processor as it is and slowed by DevTools; returns the hashes that it makes in a second. */
export async function benchBrowser(run: Run): Promise<number> {
  const sallyport = await open({
    trustProxy: ['loopback'],
    data: { refresh: false },
    log: { requests: 'off' },
    policy: {
      preset: 'observe',
      rules: [2, 3].map((level) => ({
        id: `ask-${level}`,
        match: { path: [`/${level}`] },
        action: 'challenge' as const,
        challenge: { level: level as 2 | 3 },
      })),
    },
  })
  const site = listener(sallyport, (_, res) => {
    res.setHeader('content-type', 'text/html')
    res.end(`<title>x</title><h1>${WANTED}</h1>`)
  })
  const server = createServer(site)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  })
  try {
    return await measurePage(run, browser, url)
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
    await sallyport.close()
  }
}

async function measurePage(run: Run, browser: Browser, url: string): Promise<number> {
  const rounds = run.pick(11, 1)
  const visits = { plain: [] as Visit[], slow: [] as Visit[] }
  const paints: number[] = []
  let size = 0
  // The first one starts what all of them use.
  await withPage(browser, 1, (page) => visit(page, `${url}/2`))
  for (let round = 0; round < rounds; round++) {
    run.step(`Chromium, round ${round + 1} of ${rounds}`)
    visits.plain.push(await withPage(browser, 1, (page) => visit(page, `${url}/2`)))
    visits.slow.push(await withPage(browser, SLOWED, (page) => visit(page, `${url}/2`)))
    paints.push(await withPage(browser, 1, (page) => firstPaint(page, `${url}/3`)))
    size = await withPage(browser, 1, (page) => sizeOf(page, `${url}/2`))
  }
  const rates = visits.plain.map(({ hashes, work }) => hashes / (work / 1_000))
  const rowOf = (name: string, taken: readonly Visit[], atMost: number): readonly Figure[] => [
    { case: name, what: 'work', unit: 'ms', value: spreadOf(taken.map(({ work }) => work)) },
    {
      case: name,
      what: 'until the wanted page',
      unit: 's',
      value: spreadOf(taken.map(({ whole }) => whole / 1_000)),
      goal: { atMost },
    },
  ]
  const name = 'level 2'
  run.table({
    title: 'The page, in Chromium on loopback',
    figures: [
      { case: name, what: 'gzip', unit: 'kB', value: counted(size / 1_000), goal: { atMost: 12 } },
      { case: name, what: 'first paint', unit: 'ms', value: spreadOf(paints), goal: { atMost: 100 } },
      ...rowOf(name, visits.plain, 0.5),
      ...rowOf(`${name}, the processor slowed ${SLOWED} times`, visits.slow, 5),
    ],
  })
  return median(rates)
}

/** The time that a visitor's browser took, in milliseconds. */
interface Visit {
  /** From the page to its solution. */
  readonly work: number
  readonly hashes: number
  /** From the first request to the wanted page. */
  readonly whole: number
}

async function visit(page: Page, url: string): Promise<Visit> {
  let solution = ''
  let [shown, solved] = [0, 0]
  page.once('domcontentloaded', () => {
    shown = performance.now()
  })
  page.on('request', (request) => {
    if (request.method() !== 'POST') return
    solved = performance.now()
    solution = request.headers()['sallyport-solution'] ?? ''
  })
  const began = performance.now()
  await page.goto(url)
  await page.getByRole('heading', { name: WANTED }).waitFor()
  return { work: solved - shown, hashes: hashesOf(solution), whole: performance.now() - began }
}

async function firstPaint(page: Page, url: string): Promise<number> {
  // Its solution is never answered: the page stays.
  await page.route('**/.sallyport/pass', () => {})
  await page.goto(url)
  const painted = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`
  // The page's policy forbids what `waitForFunction` would do within it.
  for (;;) {
    const at = await page.evaluate(painted)
    if (at !== undefined) return Number(at)
    await delay(5)
  }
}

async function sizeOf(page: Page, url: string): Promise<number> {
  await page.route('**/.sallyport/pass', () => {})
  return gzipSync((await (await page.goto(url))?.body()) ?? '').length
}

/** A page of a browser that was never here, and says nothing of who drives it. */
async function withPage<T>(browser: Browser, rate: number, work: (page: Page) => Promise<T>): Promise<T> {
  const major = browser.version().split('.', 1)[0]
  const context = await browser.newContext({
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`,
    extraHTTPHeaders: { 'x-forwarded-for': ADDRESS },
  })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  if (rate > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate })
  try {
    return await work(page)
  } finally {
    await context.close()
  }
}
