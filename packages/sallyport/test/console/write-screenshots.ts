import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { countAlsoBefore } from './past.ts'
import { viewIds } from './views.ts'
import { readStatus, VISITOR } from './visits.ts'

/*
 * Writes the pictures of the repository, of the demo as it starts and of every view at one width, into .github/screenshots:
 * node packages/sallyport/dist/test/console/write-screenshots.js
 * With a folder behind it: every view from its top to its end, at four widths, light and dark, into that folder instead.
 */
const ROOT = join(import.meta.dirname, '../../../../..')
const [EVERY] = process.argv.slice(2)
const PICTURES = EVERY ?? join(ROOT, '.github/screenshots')
const HEIGHTS = { 390: 844, 820: 940, 1440: 900, 1920: 1080 } as const
const SCHEMES = ['light', 'dark'] as const

const CONFIG = `demo: true
trustProxy: [loopback]
policy:
  preset: low-friction
  rules:
    - { id: no-tor, match: { networkClass: [tor] }, action: block }
    - { id: no-hosting-login, match: { networkClass: [hosting], path: [/login] }, action: block, monitor: true }
    - { id: ask-vpn, match: { networkClass: [vpn], path: [/admin] }, action: challenge, monitor: true }
    - { id: ask-hosting, match: { networkClass: [hosting], path: [/admin] }, action: challenge, challenge: { level: 3 } }
  limits: [account-guard]
  strikes: { key: client, count: 6, window: 10m, on: [status:404], for: 1h }
data: { refresh: false }
lists:
  partners: ['192.0.2.0/24', '198.51.100.7']
log: { requests: off }
dns: { servers: ['127.0.0.1:9'] }
`

const ADDRESSES = [
  ...Object.values(VISITOR),
  '45.83.220.10',
  '133.242.0.1',
  '1.1.1.1',
  '200.160.2.3',
  '41.0.0.1',
  '81.2.69.142',
  '210.140.92.1',
  '5.255.255.70',
]
/** Tries what is not there, until it is banned. */
const SCANNER = '51.15.0.10'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const AGENTS = [
  BROWSER,
  BROWSER,
  'curl/8.5.0',
  'Google-Extended/1.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
]
const PATHS = ['/', '/articles/gates', '/login', '/articles/walls', '/admin']
const SECONDS = 40

const SCREEN = { width: 1280, height: 860 }
/** The window is high enough to show the map. */
const TALL = { width: 1280, height: 1820 }
const PHONE = { width: 390, height: 844 }

/** Starts the demo in a process of its own, with data of its own. */
async function startDemo(folder: string) {
  const config = join(folder, 'demo.yaml')
  const dataDir = join(folder, 'data')
  writeFileSync(config, CONFIG)
  const place = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--data-dir', dataDir]
  const command = [join(ROOT, 'packages/sallyport/bin/sallyport.mjs'), 'proxy', '--config', config, ...place]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!said.includes('with the token in')) {
    if (child.exitCode !== null) throw new Error(said)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const urlAfter = (words: string): string => new RegExp(`${words} (http://[\\d.:]+)`).exec(said)?.[1] ?? ''
  const link = /Console at (\S+)/.exec(said)?.[1] ?? ''
  return { child, dataDir, url: urlAfter('Listening on'), adminUrl: urlAfter('Console at'), link }
}

/** Events of three accounts: one is guessed, one does not exist, and one would be made with throwaway mail. */
async function bringEvents(adminUrl: string, dataDir: string): Promise<void> {
  const authorization = `Bearer ${readFileSync(join(dataDir, 'console-token'), 'utf8').trim()}`
  const headers = { authorization, 'content-type': 'application/json' }
  const assess = async (address: string, event: object) => {
    const body = JSON.stringify({ ...event, visitor: { address, headers: { 'User-Agent': BROWSER } } })
    await (await fetch(`${adminUrl}/accounts/assess`, { method: 'POST', headers, body })).text()
  }
  const ada = { event: 'login', user: '17', identifier: 'ada@shop.example' }
  await assess('73.162.10.20', { ...ada, outcome: 'success' })
  for (const address of [...ADDRESSES, ...ADDRESSES].slice(0, 14)) await assess(address, { ...ada, outcome: 'failure' })
  await assess('73.162.10.20', { event: 'login', identifier: 'nobody@shop.example', outcome: 'unknown_user' })
  await assess('45.83.220.10', { event: 'signup', identifier: 'x@mailinator.com' })
}

/** Some requests in each of so many seconds, and then until they are written. */
async function bringVisitors(url: string): Promise<void> {
  const at = <T>(list: readonly T[], place: number): T => list[place % list.length] as T
  for (let second = 0; second < SECONDS; second++) {
    const visits = Array.from({ length: 5 + ((second * 7) % 11) }, (_, index) =>
      readStatus(url, at(PATHS, second + index), {
        'X-Forwarded-For': at(ADDRESSES, second + index * 5),
        'User-Agent': at(AGENTS, second * 3 + index),
      }),
    )
    if (second % 4 === 0)
      await readStatus(url, `/old/${second}.php`, { 'X-Forwarded-For': SCANNER, 'User-Agent': BROWSER })
    await Promise.all([...visits, new Promise((resolve) => setTimeout(resolve, 1_000))])
  }
  // Counts are written every five seconds.
  await new Promise((resolve) => setTimeout(resolve, 6_000))
}

type Place = readonly [name: string, address: string]

/** Lists every view of the console, with a question where the view shows little without one. */
async function everyView(page: Page, adminUrl: string): Promise<readonly Place[]> {
  const asked = await page.evaluate(
    `fetch('/console/api/requests?limit=1&outcome=block').then((answer) => answer.json())`,
  )
  const [request] = (asked as { readonly requests: readonly { readonly id: string }[] }).requests
  const questions: Readonly<Record<string, string>> = {
    inspect: `?target=${VISITOR.tor}`,
    request: `?id=${request?.id}`,
    lists: '?name=partners',
  }
  return (await viewIds()).map((id) => [id, `${adminUrl}/#/${id}${questions[id] ?? ''}`] as const)
}

/** Opens a view from nothing, and waits until nothing loads and the map is drawn. */
async function show(page: Page, address: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(address)
  await page.locator('h1').first().waitFor()
  await page.locator('.loading, .map.waiting').first().waitFor({ state: 'detached' })
  // The editor and the chart need this time for their first drawing.
  await page.waitForTimeout(400)
}

/** Makes the window as high as its page: parts that are out of sight are not laid out before. */
async function growToWhole(page: Page, { viewport }: Options): Promise<void> {
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
  await page.setViewportSize({ width: viewport?.width ?? 0, height: Math.min(height, 5_000) })
  await page.waitForTimeout(200)
}

type Options = NonNullable<Parameters<Browser['newContext']>[0]>

async function picture(
  browser: Browser,
  places: readonly Place[],
  options: Options,
  {
    suffix = '',
    isWhole = false,
  }: { readonly suffix?: string | undefined; readonly isWhole?: boolean | undefined } = {},
): Promise<void> {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' })
  const page = await context.newPage()
  // A challenge stays as it begins.
  await page.route('**/.sallyport/**', () => {})
  for (const [name, address] of places) {
    await show(page, address)
    if (isWhole) await growToWhole(page, options)
    await page.screenshot({ path: join(PICTURES, `${name}${suffix}.png`) })
    if (options.viewport) await page.setViewportSize(options.viewport)
  }
  await context.close()
}

const folder = mkdtempSync(join(tmpdir(), 'sallyport-pictures-'))
const { child, dataDir, url, adminUrl, link } = await startDemo(folder)
const ended = once(child, 'exit')
const browser = await launchBrowser()
try {
  mkdirSync(join(PICTURES, 'views'), { recursive: true })
  const first = await browser.newPage()
  await first.goto(link)
  await first.getByText('Read only').waitFor()
  await bringEvents(adminUrl, dataDir)
  await bringVisitors(url)
  countAlsoBefore(
    dataDir,
    Array.from({ length: 47 }, (_, index) => index + 1),
  )
  // The console keeps the numbers of a day for as long.
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  if (EVERY !== undefined) {
    const token = readFileSync(join(dataDir, 'console-token'), 'utf8').trim()
    await first.request.post(`${adminUrl}/console/api/session`, {
      headers: { authorization: `Bearer ${token}` },
      data: {},
    })
  }
  const views = await everyView(first, adminUrl)
  const storageState = await first.context().storageState()
  await first.context().close()
  if (EVERY === undefined) {
    const of = (name: string, address: string, colorScheme: 'light' | 'dark', viewport: typeof SCREEN) =>
      picture(browser, [[name, address]], { viewport, colorScheme, storageState })
    await of('console-light', adminUrl, 'light', TALL)
    await of('console-dark', adminUrl, 'dark', SCREEN)
    await of('console-phone', `${adminUrl}/#/inspect?target=${VISITOR.tor}`, 'light', PHONE)
    const contact = views.map(([id, address]) => [`views/${id}`, address] as const)
    await picture(browser, contact, {
      viewport: { width: 820, height: HEIGHTS[820] },
      colorScheme: 'light',
      storageState,
    })
  } else {
    const all: readonly Place[] = [...views, ['demo', `${url}/?as=forged`], ['docs', `${url}/v1/docs`]]
    const visitors = { challenge: VISITOR.hosting, refusal: VISITOR.tor }
    const printed = await (await browser.newContext({ storageState })).newPage()
    await show(printed, `${adminUrl}/#/report`)
    await printed.pdf({ path: join(PICTURES, 'report.pdf'), format: 'A4' })
    for (const [width, height] of Object.entries(HEIGHTS))
      for (const colorScheme of SCHEMES) {
        const options = { viewport: { width: Number(width), height }, colorScheme, storageState }
        const shown = { suffix: `-${width}-${colorScheme}`, isWhole: true }
        await picture(browser, all, options, shown)
        for (const [name, address] of Object.entries(visitors)) {
          const fields = { 'x-forwarded-for': address }
          await picture(browser, [[name, `${url}/admin`]], { ...options, extraHTTPHeaders: fields }, shown)
        }
      }
  }
} finally {
  await browser.close()
  child.kill('SIGINT')
  await ended
  rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 200 })
}
