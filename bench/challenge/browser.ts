import { createServer } from 'node:http'
import { open } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import { listener } from '@sallyport/node'
import { type Browser, chromium, type Page } from 'playwright-core'
import { computeSpread, type Figure, makeFigure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'

/** Debian's; no other browser is downloaded. */
export const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium'

/** Visitors from an address of no network that is known. */
const ADDRESS = '93.184.216.34'
const SLOWED = 20
const WANTED = 'the wanted page'

/** Measures the page in Chromium, at full processor speed and slowed by DevTools. */
export async function benchBrowser(run: Run): Promise<void> {
  const sallyport = await open({
    trustProxy: ['loopback'],
    data: { refresh: false },
    log: { requests: 'off' },
    policy: {
      preset: 'observe',
      rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }],
    },
  })
  const site = listener(sallyport, (_, res) => {
    res.setHeader('content-type', 'text/html')
    res.end(`<title>x</title><h1>${WANTED}</h1>`)
  })
  await scratch(async (_, cleanup) => {
    cleanup.teardown(() => sallyport.close())
    const url = `http://127.0.0.1:${await listening(cleanup, createServer(site))}`
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    })
    cleanup.teardown(() => browser.close())
    await measurePage(run, browser, url)
  })
}

async function measurePage(run: Run, browser: Browser, url: string): Promise<void> {
  const rounds = run.pick(11, 1)
  const visits = { plain: [] as Visit[], slow: [] as Visit[] }
  // The first visit starts what all visits use.
  await withPage(browser, 1, (page) => visit(page, url))
  for (let round = 0; round < rounds; round++) {
    run.step(`Chromium, round ${round + 1} of ${rounds}`)
    visits.plain.push(await withPage(browser, 1, (page) => visit(page, url)))
    visits.slow.push(await withPage(browser, SLOWED, (page) => visit(page, url)))
  }
  const makeRow = (name: string, taken: readonly Visit[], atMost: number): readonly Figure[] => {
    const whole = computeSpread(taken.map((one) => one.whole / 1_000))
    return [
      makeFigure(name, 'work', 'ms', computeSpread(taken.map(({ work }) => work))),
      makeFigure(name, 'until the wanted page', 's', whole, { atMost }),
    ]
  }
  const name = 'level 2'
  run.table({
    title: 'The page, in Chromium on loopback',
    figures: [
      ...makeRow(name, visits.plain, 0.5),
      ...makeRow(`${name}, the processor slowed ${SLOWED} times`, visits.slow, 5),
    ],
  })
}

/** The time that a visitor's browser took, in milliseconds. */
interface Visit {
  /** The browser's work begins at the page and ends with its solution. */
  readonly work: number
  /** The whole visit begins at the first request and ends with the wanted page. */
  readonly whole: number
}

async function visit(page: Page, url: string): Promise<Visit> {
  let [shown, solved] = [0, 0]
  page.once('domcontentloaded', () => {
    shown = performance.now()
  })
  page.on('request', (request) => {
    if (request.method() === 'POST') solved = performance.now()
  })
  const began = performance.now()
  await page.goto(url)
  await page.getByRole('heading', { name: WANTED }).waitFor()
  return { work: solved - shown, whole: performance.now() - began }
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
