import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from './browser.ts'
import { openScene, VISITOR } from './scene.ts'

/* Writes the pictures of the README, with traffic that is made up: node packages/console/dist/test/write-screenshots.js */
const FOLDER = join(import.meta.dirname, '../../../../.github/screenshots')

const ADDRESSES = [
  ...Object.values(VISITOR),
  ...[
    '45.83.220.10',
    '133.242.0.1',
    '1.1.1.1',
    '200.160.2.3',
    '41.0.0.1',
    '81.2.69.142',
    '210.140.92.1',
    '5.255.255.70',
  ],
]
const AGENTS = [
  ...[undefined, undefined, 'curl/8.5.0', 'Google-Extended/1.0'],
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
]
const PATHS = ['/', '/articles/gates', '/login', '/articles/walls', '/admin']
const ROUNDS = 30

const scene = await openScene()
const browser = await openBrowser()
mkdirSync(FOLDER, { recursive: true })
for (let round = 0; round < ROUNDS; round++) {
  for (let index = 0; index < 3 + ((round * 7) % 11); index++) {
    const [address = VISITOR.home, userAgent, path = '/'] = [
      ADDRESSES[(round + index * 5) % ADDRESSES.length],
      AGENTS[(round * 3 + index) % AGENTS.length],
      PATHS[(round + index) % PATHS.length],
    ]
    await scene.visit(address, { ...(userAgent !== undefined && { userAgent }), path })
  }
  await new Promise((resolve) => setTimeout(resolve, 400))
}
for (const [name, url, colorScheme] of [
  ['console-light', scene.adminUrl, 'light'],
  ['console-dark', scene.adminUrl, 'dark'],
  ['demo', `${scene.url}/?as=token`, 'light'],
] as const) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme })
  await page.goto(url)
  await page.waitForTimeout(2_500)
  await page.screenshot({ path: join(FOLDER, `${name}.png`) })
  await page.close()
}
await browser.close()
await scene.close()
