import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ConfigInput } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import type { BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { WebSocketServer } from 'ws'
import { type Fence, readFences } from '../documents/fences.ts'
import { makeFolder } from '../started.ts'
import { digest } from './origin.ts'
import { type Gate, openGate } from './site.ts'

const { resolve } = createRequire(import.meta.url)

/** Files that pages of these applications load, as their packages publish them. */
const LIBRARIES: Readonly<Record<string, string>> = {
  '/axios.js': packageFile('axios', 'dist/axios.min.js'),
  '/htmx2.js': packageFile('htmx2', 'dist/htmx.min.js'),
  '/htmx4.js': packageFile('htmx.org', 'dist/htmx.min.js'),
  '/turbo.js': packageFile('@hotwired/turbo', 'dist/turbo.es2017-umd.js'),
  ...Object.fromEntries(
    ['core', 'precaching', 'routing', 'strategies'].map((part) => [
      `/workbox-${part}.js`,
      packageFile(`workbox-${part}`, `build/workbox-${part}.prod.js`),
    ]),
  ),
}

function packageFile(name: string, path: string): string {
  return join(dirname(resolve(`${name}/package.json`)), path)
}

/** The recipes, as the documentation has them. */
export const RECIPES: readonly Fence[] = readFences(['packages/sallyport/docs/challenge.md'])

/** Finds the recipe that contains a word. */
export function findRecipe(word: string): string {
  return RECIPES.find(({ text }) => text.includes(word))?.text ?? ''
}

/** Every request needs a pass of level 2. */
export const POLICY: ConfigInput['policy'] = {
  preset: 'low-friction',
  rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 2, pass: '1m' } }],
}

export interface Application extends Gate {
  /** Requests that reached the origin, as `POST /order`. */
  readonly arrived: readonly string[]
  /** Ends the streams of events and the sockets that are open. */
  endStreams(): void
}

/** Opens an application behind the gate. */
export async function openApplication(
  t: Test,
  pages: Readonly<Record<string, string>>,
  policy = POLICY,
): Promise<Application> {
  const arrived: string[] = []
  const streams = new Set<ServerResponse>()
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = (req.url ?? '').split('?')
    if (path !== '/favicon.ico') arrived.push(`${req.method} ${path}`)
    const send = (type: string, text: string | Buffer) => void res.setHeader('content-type', type).end(text)
    const page = pages[path]
    const library = LIBRARIES[path]
    if (page !== undefined) send(path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8', page)
    else if (library !== undefined) send('text/javascript', readFileSync(library))
    else if (path === '/order') {
      const [type = ''] = (req.headers['content-type'] ?? '').split(';')
      const sent = await buffer(req)
      // The boundary of a form is another one each time.
      const text = type === 'multipart/form-data' ? `${sent.includes('ordered words')}` : digest(sent)
      res.writeHead(303, { location: `/ordered?${encodeURIComponent(`${type} ${text}`)}` }).end()
    } else if (path === '/ordered') {
      send('text/html; charset=utf-8', writeOrdered(decodeURIComponent(query)))
    } else if (path === '/events') {
      streams.add(res)
      res.setHeader('content-type', 'text/event-stream').write(`data: Stream ${streams.size}\n\n`)
    } else res.writeHead(404).end()
  }
  const server = createServer((req, res) => void answer(req, res))
  const sockets = new WebSocketServer({ server })
  let opened = 0
  sockets.on('connection', (socket) => socket.send(`Socket ${++opened}`))
  const upstream = `http://127.0.0.1:${await listening(t, server)}`
  const gate = await openGate(t, makeFolder(t), upstream, { policy })
  return {
    ...gate,
    arrived,
    endStreams() {
      for (const stream of streams) stream.end()
      for (const socket of sockets.clients) socket.close()
    },
  }
}

/** Writes the answer to an order: a page with a frame of Turbo. */
const writeOrdered = (text: string): string =>
  `<title>Ordered</title><turbo-frame id="cart"><p>Ordered: ${text}</p></turbo-frame>`

/** Opens a page of an application: the challenge is solved, and the page is there. */
export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('heading', { name: 'First' }).waitFor()
  // Survives as long as the document does.
  await page.evaluate('window.isKept = true')
  return page
}

/** Ends the pass of an open page, and whatever else its host may have kept in the browser. */
export const endPass = (context: BrowserContext): Promise<void> => context.clearCookies()

/** Reports whether the document is still the one that `openPage` opened. */
export const isKept = async (page: Page): Promise<boolean> => (await page.evaluate('window.isKept')) === true
