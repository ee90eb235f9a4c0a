import { createServer, type IncomingMessage } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import type { Test } from 'tap'

/** A request as a browser sent it. */
interface Asked {
  readonly method: string
  readonly target: string
  readonly httpVersion: string
  readonly fields: readonly string[]
}

export type AskingSite = Awaited<ReturnType<typeof openAskingSite>>

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  json: 'application/manifest+json',
}
const BODIES: Readonly<Record<string, string>> = {
  js: 'export {}',
  css: '@font-face { font-family: f; src: url(font.woff2) } p { font-family: f }',
  svg: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
  json: '{}',
}
const WORKER = `self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()))
self.addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))`

/** A page that asks for something of each kind: at first plainly (`/plain`), then through a service worker (`/passed`). */
const PAGE = `<!doctype html><html lang="en"><title>asking</title>
<link rel="icon" href="icon.svg"><link rel="manifest" href="manifest.json"><link rel="stylesheet" href="style.css">
<p>text</p><script type="module" src="module.js"></script><script src="/steps.js"></script></html>`
const STEPS = `(async () => {
  const [, where, step] = location.pathname.split('/')
  const add = (tag, members) => document.body.appendChild(Object.assign(document.createElement(tag), members))
  const loaded = (tag, members) => new Promise((resolve) => add(tag, { ...members, onload: resolve, onerror: resolve }))
  const visit = (href) => add('a', { href, textContent: href }).click()
  if (step === 'start') {
    if (where === 'passed') {
      navigator.serviceWorker.register('/worker.js', { scope: '/' })
      if (!navigator.serviceWorker.controller)
        await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
    }
    return visit('link')
  }
  if (step === 'link') {
    add('object', { data: 'object.svg' })
    await Promise.all([loaded('iframe', { src: 'frame' }), loaded('img', { src: 'image.svg' })])
    const key = where + ' reloaded'
    if (sessionStorage.getItem(key) === null) {
      sessionStorage.setItem(key, 'yes')
      return location.reload()
    }
    const form = add('form', { action: 'form', method: 'post' })
    return form.submit()
  }
  if (step === 'form') {
    add('embed', { src: 'embed.svg' })
    add('video', { src: 'film.webm', preload: 'auto' })
    add('audio', { src: 'sound.ogg', preload: 'auto' })
    new Worker('worker-script.js')
    new EventSource('events')
    new WebSocket(location.origin.replace('http', 'ws') + '/' + where + '/socket')
    navigator.sendBeacon('beacon', 'x')
    await Promise.allSettled([fetch('fetch'), fetch('same', { mode: 'same-origin' }), fetch('loose', { mode: 'no-cors' })])
    add('a', { href: 'file', download: 'file.bin' }).click()
    await fetch('after')
    return visit(where === 'plain' ? '/passed/start' : '/done')
  }
})()`

/** Serves the pages on loopback until the test ends. Sec-Fetch fields and service workers are for loopback too. */
export async function openAskingSite(t: Test) {
  const asked: Asked[] = []
  let wakes: (() => void)[] = []
  const note = ({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage) => {
    asked.push({ method, target: url, httpVersion, fields: rawHeaders })
    for (const wake of wakes) wake()
    wakes = []
  }
  /** Resolves once each of these paths was asked for. */
  const seen = async (...paths: readonly string[]) => {
    while (!paths.every((path) => asked.some(({ target }) => target === path)))
      await new Promise<void>((resolve) => wakes.push(resolve))
  }
  const server = createServer((request, response) => {
    note(request)
    request.resume()
    const path = request.url ?? ''
    const [, extension = ''] = /\.(\w+)$/.exec(path) ?? []
    if (path === '/worker.js' || path === '/steps.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(path === '/worker.js' ? WORKER : STEPS)
    } else if (path.endsWith('/after')) {
      // Going on before the file was asked for would take the download back.
      void seen(path.replace('after', 'file')).then(() => response.end())
    } else if (path.endsWith('/file') || path.endsWith('/download')) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('x')
    } else if (/\/(start|link|frame|form|done)$/.test(path)) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    } else {
      response.writeHead(extension in BODIES ? 200 : 404, { 'content-type': TYPES[extension] ?? 'text/plain' })
      response.end(BODIES[extension] ?? '')
    }
  })
  server.on('upgrade', (request, socket) => {
    note(request)
    socket.destroy()
  })
  return { url: `http://127.0.0.1:${await listening(t, server)}`, asked, seen }
}
