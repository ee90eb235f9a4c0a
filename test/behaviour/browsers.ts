import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@sallyport/engine/testing'
import type { Page } from 'playwright-core'
import { WebSocket } from 'ws'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { missing, missingFiles, WEBKIT as WEBKIT_BROWSER } from '../clients/programs.ts'

/** A browser that a person has before them. */
export interface Session {
  /** Opens an address as one that was typed. */
  go(url: string): Promise<void>
  /** Follows a link of the page. */
  follow(url: string): Promise<void>
  /** Goes to the page before, or to the next one. */
  move(by: -1 | 1): Promise<void>
  /** Opens a link in a tab behind this one. */
  tab(url: string): Promise<void>
  close(): Promise<void>
}

/** What a person blocks: pictures, or scripts. */
export type Blocked = 'nothing' | 'images' | 'scripts'

export interface Engine {
  readonly name: string
  /** Why it is not tried on this machine. */
  readonly missing: string | false
  open(blocked: Blocked): Promise<Session>
}

/** Time in which a page that has loaded asks for what its scripts add. */
const SETTLE_MS = 250

const CHROMIUM: Engine = {
  name: 'Chromium',
  missing: NO_CHROMIUM,
  async open(blocked) {
    const images = blocked === 'images' ? ['--blink-settings=imagesEnabled=false'] : []
    const browser = await openChromium(...images)
    const javaScriptEnabled = blocked !== 'scripts'
    const context = await browser.newContext({ userAgent: readersAgent(browser), locale: 'en-GB', javaScriptEnabled })
    const page = await context.newPage()
    const open = async (tab: Page, url: string, referer?: string): Promise<void> => {
      await tab.goto(url, { waitUntil: 'load', ...(referer !== undefined && { referer }) })
      await delay(SETTLE_MS)
    }
    return {
      go: (url) => open(page, url),
      follow: (url) => open(page, url, page.url()),
      async move(by) {
        await (by < 0 ? page.goBack() : page.goForward())
        await delay(SETTLE_MS)
      },
      tab: async (url) => open(await context.newPage(), url, page.url()),
      close: () => browser.close(),
    }
  },
}

const FIREFOX_BLOCKS = {
  nothing: [],
  images: ['permissions.default.image', 2],
  scripts: ['javascript.enabled', false],
} as const

/** Debian's is driven over WebDriver BiDi. */
const FIREFOX: Engine = {
  name: 'Firefox',
  missing: missing('firefox-esr'),
  async open(blocked) {
    const home = mkdtempSync(join(tmpdir(), 'sallyport-firefox-'))
    const [name, value] = FIREFOX_BLOCKS[blocked]
    if (name !== undefined) writeFileSync(join(home, 'user.js'), `user_pref("${name}", ${value});\n`)
    const args = ['--headless', '--no-remote', '--profile', home, '--remote-debugging-port=0']
    const child = spawn('firefox-esr', args, { env: { ...process.env, HOME: home, MOZ_HEADLESS: '1' } })
    let said = ''
    child.stderr.on('data', (text) => (said += text))
    const address = await until(() => /ws:\/\/[^\s/]+/.exec(said)?.[0])
    const call = await openCalls(`${address}/session`)
    await call('session.new', { capabilities: {} })
    const { context } = await call('browsingContext.create', { type: 'tab' })
    const open = async (tab: unknown, url: string): Promise<void> => {
      await call('browsingContext.navigate', { context: tab, url, wait: 'complete' })
      await delay(SETTLE_MS)
    }
    const run = (expression: string) =>
      call('script.evaluate', { expression, target: { context }, awaitPromise: false }).then(() => delay(1_000))
    return {
      go: (url) => open(context, url),
      follow: (url) => (blocked === 'scripts' ? open(context, url) : run(`location.assign('${url}')`)),
      move: (delta) => call('browsingContext.traverseHistory', { context, delta }).then(() => delay(1_000)),
      tab: async (url) => open((await call('browsingContext.create', { type: 'tab' }))['context'], url),
      async close() {
        await call('browser.close', {})
        if (child.exitCode === null) await once(child, 'close')
        rmSync(home, { recursive: true, force: true })
      },
    }
  },
}

type Call = (method: string, params: object) => Promise<Readonly<Record<string, unknown>>>

/** Calls of WebDriver BiDi on a socket. */
async function openCalls(address: string): Promise<Call> {
  const socket = new WebSocket(address)
  await once(socket, 'open')
  const waiting = new Map<number, (answer: { result?: Readonly<Record<string, unknown>> }) => void>()
  socket.on('message', (text) => {
    const answer = JSON.parse(String(text))
    waiting.get(answer.id)?.(answer)
  })
  let last = 0
  return (method, params) =>
    new Promise((resolve) => {
      waiting.set(++last, ({ result = {} }) => resolve(result))
      socket.send(JSON.stringify({ id: last, method, params }))
    })
}

/** What WebDriver answers to the calls that are made here. */
interface Value {
  readonly sessionId?: string
  readonly handle?: string
}

/** The browser of WebKitGTK, over WebDriver; it needs a screen. */
const WEBKIT: Engine = {
  name: 'WebKitGTK',
  missing: missing('WebKitWebDriver') || missing('Xvfb', '-help') || missingFiles(WEBKIT_BROWSER),
  async open() {
    const home = mkdtempSync(join(tmpdir(), 'sallyport-webkit-'))
    mkdirSync(join(home, 'run'), { mode: 0o700 })
    const port = await freePort()
    const screen = `:${port % 1_000}`
    const env = { ...process.env, DISPLAY: screen, HOME: home, XDG_RUNTIME_DIR: join(home, 'run'), GDK_BACKEND: 'x11' }
    const children: ChildProcess[] = [
      spawn('Xvfb', [screen, '-screen', '0', '800x600x24'], { stdio: 'ignore' }),
      spawn('WebKitWebDriver', [`--port=${port}`], { env, stdio: 'ignore' }),
    ]
    const call = async (method: string, path: string, body?: object): Promise<Value> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      })
      return ((await answer.json()) as { readonly value: Value }).value
    }
    const options = { binary: WEBKIT_BROWSER, args: ['--automation'] }
    await until(async () => call('GET', '/status').catch(() => undefined))
    const asked = { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } }
    const { sessionId } = await until(async () => {
      const made = await call('POST', '/session', asked)
      return made.sessionId === undefined ? undefined : made
    })
    const session = `/session/${sessionId}`
    const go = (url: string) => call('POST', `${session}/url`, { url }).then(() => delay(SETTLE_MS))
    const run = (script: string) =>
      call('POST', `${session}/execute/sync`, { script, args: [] }).then(() => delay(1_000))
    return {
      go,
      follow: (url) => run(`location.assign('${url}')`),
      move: (by) => call('POST', `${session}/${by < 0 ? 'back' : 'forward'}`, {}).then(() => delay(SETTLE_MS)),
      async tab(url) {
        const handle = await call('GET', `${session}/window`)
        const opened = await call('POST', `${session}/window/new`, { type: 'tab' })
        await call('POST', `${session}/window`, { handle: opened.handle })
        await go(url)
        await call('POST', `${session}/window`, { handle })
      },
      async close() {
        await call('DELETE', session)
        for (const child of children.toReversed()) child.kill()
        rmSync(home, { recursive: true, force: true })
      },
    }
  },
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await delay(100)
  }
  throw new Error('a browser did not start')
}

export const ENGINES: readonly Engine[] = [CHROMIUM, FIREFOX, WEBKIT]
