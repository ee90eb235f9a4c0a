import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBrowser } from './browser.ts'
import { viewIds } from './views.ts'
import { statusOf, VISITOR } from './visits.ts'

/*
 * Writes the pictures of the README, of the demo as it starts: node packages/sallyport/dist/test/console/write-screenshots.js
 * With a folder behind it: those of every view, at three widths, light and dark, into that folder instead.
 */
const ROOT = join(import.meta.dirname, '../../../../..')
const [EVERY] = process.argv.slice(2)
const PICTURES = EVERY ?? join(ROOT, '.github/screenshots')
const WIDTHS = [390, 820, 1_440]

const CONFIG = `demo: true
trustProxy: [loopback]
policy:
  preset: low-friction
  rules:
    - { id: no-tor, match: { networkClass: [tor] }, action: block }
    - { id: no-hosting-login, match: { networkClass: [hosting], path: [/login] }, action: block, monitor: true }
data: { refresh: false }
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
const ROUNDS = 60
const ROUND_MS = 1_500

const SCREEN = { width: 1280, height: 860 }
/** Down to the map. */
const TALL = { width: 1280, height: 1720 }
const PHONE = { width: 390, height: 844 }

/** The demo in a process of its own, with data of its own. */
async function startDemo(folder: string) {
  const config = join(folder, 'demo.yaml')
  writeFileSync(config, CONFIG)
  const place = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--data-dir', join(folder, 'data')]
  const command = [join(ROOT, 'packages/sallyport/bin/sallyport.mjs'), 'proxy', '--config', config, ...place]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!said.includes('by the token in')) {
    if (child.exitCode !== null) throw new Error(said)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const urlAfter = (words: string): string => new RegExp(`${words} (http://[\\d.:]+)`).exec(said)?.[1] ?? ''
  const link = /Console at (\S+)/.exec(said)?.[1] ?? ''
  return { child, url: urlAfter('Listening on'), adminUrl: urlAfter('Console at'), link }
}

async function bringVisitors(url: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (let index = 0; index < 5 + ((round * 7) % 11); index++) {
      const at = <T>(list: readonly T[], place: number): T => list[place % list.length] as T
      await statusOf(url, at(PATHS, round + index), {
        'X-Forwarded-For': at(ADDRESSES, round + index * 5),
        'User-Agent': at(AGENTS, round * 3 + index),
      })
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS / 10))
    }
  }
}

/** Every view of the console, and the demo. */
async function everyView(url: string, adminUrl: string) {
  const ids = (await viewIds()).filter((id) => id !== 'request')
  const places = [...ids.map((id) => [id, `${adminUrl}/#/${id}`] as const), ['demo', `${url}/?as=forged`] as const]
  return places.flatMap(([id, address]) =>
    WIDTHS.flatMap((width) =>
      (['light', 'dark'] as const).map(
        (scheme) => [`${id}-${width}-${scheme}`, address, scheme, { width, height: 900 }] as const,
      ),
    ),
  )
}

const folder = mkdtempSync(join(tmpdir(), 'sallyport-pictures-'))
const { child, url, adminUrl, link } = await startDemo(folder)
const browser = await openBrowser()
try {
  mkdirSync(PICTURES, { recursive: true })
  const first = await browser.newPage()
  await first.goto(link)
  await first.getByText('Read only').waitFor()
  const storageState = await first.context().storageState()
  await bringVisitors(url)
  const pictures = [
    ['console-light', adminUrl, 'light', TALL],
    ['console-dark', adminUrl, 'dark', SCREEN],
    ['console-phone', `${adminUrl}/#/inspect?target=${VISITOR.tor}`, 'light', PHONE],
    ['demo', `${url}/?as=chatgpt`, 'light', SCREEN],
  ] as const
  for (const [name, address, colorScheme, viewport] of EVERY === undefined
    ? pictures
    : await everyView(url, adminUrl)) {
    const page = await browser.newPage({ viewport, colorScheme, storageState })
    await page.goto(address)
    await page.waitForTimeout(2_500)
    await page.screenshot({ path: join(PICTURES, `${name}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  child.kill('SIGINT')
  rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 200 })
}
