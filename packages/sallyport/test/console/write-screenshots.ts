import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { BIN, LOOPBACK, until } from '../cli/command.ts'
import { launchBrowser, PHONE } from './browser.ts'
import { countAlsoBefore } from './past.ts'
import { viewIds } from './views.ts'
import { readStatus, VISITOR } from './visits.ts'

/*
 * Writes the pictures of the repository, of the demo as it starts and of every view at one width, into .github/screenshots:
 * node packages/sallyport/dist/test/console/write-screenshots.js
 */
const PICTURES = join(import.meta.dirname, '../../../../../.github/screenshots')

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

const OTHERS = ['133.242.0.1', '1.1.1.1', '200.160.2.3', '41.0.0.1', '81.2.69.142', '210.140.92.1', '5.255.255.70']
const ADDRESSES = [...Object.values(VISITOR), '45.83.220.10', ...OTHERS]
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

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function startDemo(folder: string) {
  const [config, dataDir] = [join(folder, 'demo.yaml'), join(folder, 'data')]
  writeFileSync(config, CONFIG)
  const command = [BIN, 'proxy', '--config', config, ...LOOPBACK, '--data-dir', dataDir]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until(() => said.includes('with the token in') || child.exitCode !== null)
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
  const visit = (path: string, address: string, agent: string) =>
    readStatus(url, path, { 'X-Forwarded-For': address, 'User-Agent': agent })
  for (let second = 0; second < SECONDS; second++) {
    const visits = Array.from({ length: 5 + ((second * 7) % 11) }, (_, index) =>
      visit(at(PATHS, second + index), at(ADDRESSES, second + index * 5), at(AGENTS, second * 3 + index)),
    )
    if (second % 4 === 0) await visit(`/old/${second}.php`, SCANNER, BROWSER)
    await Promise.all([...visits, wait(1_000)])
  }
  // Counts are written every five seconds.
  await wait(6_000)
}

type Place = readonly [name: string, address: string]

/** Lists every view of the console, with a question where the view shows little without one. */
async function everyView(page: Page, adminUrl: string): Promise<readonly Place[]> {
  const question = `fetch('/console/api/requests?limit=1&outcome=block').then((answer) => answer.json())`
  const { requests } = (await page.evaluate(question)) as { readonly requests: readonly { readonly id: string }[] }
  const questions: Readonly<Record<string, string>> = {
    inspect: `?target=${VISITOR.tor}`,
    request: `?id=${requests[0]?.id}`,
    lists: '?name=partners',
  }
  return (await viewIds()).map((id) => [`views/${id}`, `${adminUrl}/#/${id}${questions[id] ?? ''}`] as const)
}

/** Takes pictures of views, each opened from nothing once nothing loads and the map is drawn. */
async function picture(
  browser: Browser,
  places: readonly Place[],
  options: NonNullable<Parameters<Browser['newContext']>[0]>,
): Promise<void> {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' })
  const page = await context.newPage()
  for (const [name, address] of places) {
    await page.goto('about:blank')
    await page.goto(address)
    await page.locator('h1').first().waitFor()
    await page.locator('.loading, .map.waiting').first().waitFor({ state: 'detached' })
    // The editor and the chart need this time for their first drawing.
    await page.waitForTimeout(400)
    await page.screenshot({ path: join(PICTURES, `${name}.png`) })
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
  countAlsoBefore(dataDir, 47)
  // The console keeps the numbers of a day for as long.
  await wait(6_000)
  const views = await everyView(first, adminUrl)
  const storageState = await first.context().storageState()
  await first.context().close()
  const inspected = `${adminUrl}/#/inspect?target=${VISITOR.tor}`
  // The first window is high enough to show the map.
  for (const [places, colorScheme, viewport] of [
    [[['console-light', adminUrl]], 'light', { width: 1280, height: 1820 }],
    [[['console-dark', adminUrl]], 'dark', { width: 1280, height: 860 }],
    [[['console-phone', inspected]], 'light', PHONE],
    [views, 'light', { width: 820, height: 940 }],
  ] as const)
    await picture(browser, places, { viewport, colorScheme, storageState })
} finally {
  await browser.close()
  child.kill('SIGINT')
  await ended
  rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 200 })
}
