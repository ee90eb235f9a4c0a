import type { Page } from 'playwright-core'
import t from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { endPass, findRecipe, isKept, openApplication, openPage, type POLICY } from './application.ts'
import { digest } from './origin.ts'
import { openReader } from './reader.ts'
import { NO_OPENSSL } from './site.ts'

/* The pass of an application ends while its page is open, as docs/challenge.md says: real libraries, in a Chromium like a reader's. */
const skip = NO_CHROMIUM || NO_OPENSSL

const SCRIPT = findRecipe('pass.js')

/** A page of an application, what its visitor does once the pass has ended, and the text that then must be there. */
interface Scene {
  readonly name: string
  readonly library?: string | undefined
  readonly body?: string | undefined
  /** An expression of the page; what it resolves to is shown. */
  readonly script?: string | undefined
  readonly text: string
  /** The one request that must reach the application. */
  readonly arrives: string
  readonly times?: number | undefined
}

const press = (page: Page): Promise<void> => page.getByRole('button').or(page.getByRole('link')).click()
const JSON_ORDER = '{"word":"grün"}'
const JSON_TEXT = `Ordered: application/json ${digest(JSON_ORDER)}`
const FORM_TEXT = `Ordered: application/x-www-form-urlencoded ${digest('word=gr%C3%BCn')}`
const FILE = "const form = new FormData(); form.append('file', new Blob(['ordered words']), 'words.txt')"
const FIELD = '<input name="word" value="grün"><button>Order</button>'

type Shown = Pick<Scene, 'body' | 'script'>

/** A scene in which the page asks for what was ordered, and one in which it orders by a form or a script. */
const reads = (name: string, library: string | undefined, page: Shown): Scene => {
  return { name, library, ...page, text: 'Ordered: item=1', arrives: 'GET /ordered' }
}
const orders = (name: string, library: string | undefined, page: Shown, text: string): Scene => {
  return { name, library, ...page, text, arrives: 'POST /order' }
}
/** A script that orders, and shows the member of the answer that holds its text. */
const sends = (call: string, shown = 'got.text()'): Shown => ({ script: `${call}.then((got) => ${shown})` })
const sendsFile = (call: string, shown: string): Shown => ({
  script: `(() => { ${FILE}; return ${call}.then((got) => ${shown}) })()`,
})
const posted = (what: string): string =>
  `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '${what}' }`
const form = (more = ''): Shown => ({ body: `<form ${more}>${FIELD}</form>` })
const plain = 'action="/order" method="post"'
const framed = (body: string): Shown => ({ body: `<turbo-frame id="cart">${body}</turbo-frame>` })
const link = '<a href="/ordered?item=1">Order</a>'
const posting = 'hx-post="/order" hx-target="#out"'
const ofFile = 'Ordered: multipart/form-data true'

const SCENES: readonly Scene[] = [
  reads('fetch', undefined, sends("fetch('/ordered?item=1')")),
  orders('fetch, JSON', undefined, sends(`fetch('/order', ${posted(JSON_ORDER)})`), JSON_TEXT),
  orders(
    'fetch, a file',
    undefined,
    sendsFile("fetch('/order', { method: 'POST', body: form })", 'got.text()'),
    ofFile,
  ),
  orders('fetch, a Request', undefined, sends(`fetch(new Request('/order', ${posted(JSON_ORDER)}))`), JSON_TEXT),
  {
    name: 'fetch, ten at once',
    script: `Promise.all(Array.from({ length: 10 }, async (_, at) => (await fetch('/ordered?' + at)).text())).then((all) => all[9])`,
    text: 'Ordered: 9',
    arrives: 'GET /ordered',
    times: 10,
  },
  orders('axios', 'axios', sends(`axios.post('/order', ${JSON_ORDER})`, 'got.data'), JSON_TEXT),
  orders('axios, a file', 'axios', sendsFile("axios.post('/order', form)", 'got.data'), ofFile),
  ...['htmx2', 'htmx4'].flatMap((library) => [
    reads(`${library}, a button`, library, {
      body: '<button hx-get="/ordered?item=1" hx-target="#out">Order</button>',
    }),
    orders(`${library}, a form`, library, form(posting), FORM_TEXT),
    orders(`${library}, a form that works without it`, library, form(`${plain} ${posting}`), FORM_TEXT),
    reads(`${library}, a boosted link`, library, { body: link.replace('>', ' hx-boost="true">') }),
  ]),
  reads('Turbo, a link in a frame', 'turbo', framed(link)),
  orders('Turbo, a form in a frame', 'turbo', framed(form(plain).body ?? ''), FORM_TEXT),
  reads('Turbo, a frame that is loaded when it is seen', 'turbo', {
    body: `<details><summary role="button">Order</summary><turbo-frame id="cart" src="/ordered?item=1" loading="lazy"></turbo-frame></details>`,
  }),
  reads('Turbo Drive, a link', 'turbo', { body: link }),
  orders('Turbo Drive, a form', 'turbo', form(plain), FORM_TEXT),
]

const writeAct = (script: string) => `<script>async function act() { out.innerHTML = await ${script} }</script>`

const writeDocument = ({ library, body, script }: Shown & Pick<Scene, 'library'>): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Application</title>
${SCRIPT}${library === undefined ? '' : `<script src="/${library}.js"></script>`}
</head>
<body><h1>First</h1>
${script === undefined ? body : `<button onclick="act()">Order</button>${writeAct(script)}`}
<div id="out"></div>
</body>
</html>`

/** Chromium trusts the first host. The second has no Fetch Metadata, as plain HTTP, so libraries that want HTML get the page. */
const HOSTS = {
  '127.0.0.1': SCENES,
  'site.example': SCENES.filter(({ library = '' }) => /htmx|turbo/.test(library)),
}

for (const [host, scenes] of Object.entries(HOSTS)) {
  t.test(`a pass that ends, at ${host}`, { skip }, async (t) => {
    const newContext = await openReader(t, '--host-resolver-rules=MAP * 127.0.0.1')
    const pages = Object.fromEntries(scenes.map((scene, at) => [`/${at}`, writeDocument(scene)]))
    let site = await openApplication(t, pages)
    for (const [at, scene] of scenes.entries()) {
      // A client may try 30 solutions a minute.
      if (at % 10 === 9) site = await openApplication(t, pages)
      const context = await newContext()
      const page = await openPage(context, `${site.url.replace('127.0.0.1', host)}/${at}`)
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      let solutions = 0
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/.sallyport/pass')) solutions++
      })
      await endPass(context)
      const before = site.arrived.length
      await press(page)
      const shown = page.getByText(scene.text, { exact: true }).waitFor({ timeout: 10_000 })
      await shown.catch((error) => t.fail(`${scene.name}: ${error}`))
      t.ok(await isKept(page), `${scene.name}: the document is the same`)
      t.equal(solutions, 1, `${scene.name}: one challenge is solved`)
      const came = site.arrived.slice(before).filter((one) => one === scene.arrives)
      // Turbo loads a page before its link is pressed.
      t.ok(came.length === (scene.times ?? 1) || scene.name.includes('link'), `${scene.name}: it arrives once`)
      t.same(complaints, [], scene.name)
      await context.close()
    }
  })
}

t.test('a busy gate is asked again', { skip }, async (t) => {
  const site = await openApplication(t, { '/': writeDocument(sends("fetch('/ordered?item=1')")) })
  const context = await (await openReader(t))()
  const page = await openPage(context, site.url)
  const statuses = [503, 429]
  await page.route('**/.sallyport/pass', (route) => {
    const status = statuses.pop()
    return status === undefined ? route.continue() : route.fulfill({ status, headers: { 'retry-after': '1' } })
  })
  await endPass(context)
  await press(page)
  await page.getByText('Ordered: item=1').waitFor()
  t.same(statuses, [])
})

t.test('an order whose answer leads to a refused page is not sent again', { skip }, async (t) => {
  const guarded: typeof POLICY = {
    preset: 'low-friction',
    rules: [{ id: 'ask', match: { path: ['/ordered'] }, action: 'challenge', challenge: { level: 2 } }],
  }
  const scenes = SCENES.filter(({ name, arrives }) => arrives === 'POST /order' && !name.includes('works without'))
  const pages = Object.fromEntries(scenes.map((scene, at) => [`/${at}`, writeDocument(scene)]))
  const site = await openApplication(t, pages, guarded)
  const newContext = await openReader(t)
  for (const [at, { name, text }] of scenes.entries()) {
    const context = await newContext()
    const page = await openPage(context, `${site.url}/${at}`)
    const before = site.arrived.length
    await press(page)
    await page.getByText(text, { exact: true }).waitFor()
    t.ok(await isKept(page), name)
    t.same(site.arrived.slice(before), ['POST /order', 'GET /ordered'], name)
    await context.close()
  }
})

t.test('a worker that imports the script', { skip }, async (t) => {
  const task = `importScripts('/.sallyport/pass.js')
onmessage = async () => postMessage(await (await fetch('/ordered?item=1')).text())
postMessage('Ready')`
  const body = `<script>
const task = new Worker('/task.js')
task.onmessage = ({ data }) => { out.innerHTML = data }
</script><button onclick="task.postMessage(0)">Order</button>`
  const site = await openApplication(t, { '/': writeDocument({ body }), '/task.js': task })
  const context = await (await openReader(t))()
  const page = await openPage(context, site.url)
  await page.getByText('Ready').waitFor()
  await endPass(context)
  await press(page)
  await page.getByText('Ordered: item=1').waitFor()
})

const SOCKET = `function connect() {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/socket')
  socket.onmessage = ({ data }) => show(data)
  socket.onclose = async () => {
    await sallyport.pass('/socket')
    setTimeout(connect, 1000)
  }
}; connect()`

for (const [name, recipe] of [
  ['Stream', `${findRecipe('new EventSource')}; listen()`],
  ['Socket', SOCKET],
]) {
  t.test(`a connection is opened again: ${name}`, { skip }, async (t) => {
    const body = `<script>function show(text) { out.textContent += text + '. ' }; ${recipe}</script>`
    const site = await openApplication(t, { '/': writeDocument({ body }) })
    const context = await (await openReader(t))()
    const page = await openPage(context, site.url)
    await page.getByText(`${name} 1.`).waitFor()
    await endPass(context)
    site.endStreams()
    await page.getByText(`${name} 1. ${name} 2.`).waitFor()
    t.ok(await isKept(page))
  })
}

/** A cached page, that shows what the application says. */
const writeShell = (head: string, failed: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Shell</title>${head}</head>
<body><h1>First</h1><p id="out"></p>
<script>
navigator.serviceWorker.register('/worker.js')
async function load() {
  ${failed}
  if (answer.ok) out.innerHTML = await answer.text()
}
navigator.serviceWorker.ready.then(load)
</script>
</body>
</html>`

/** The worker of Workbox, and one that people write: both answer every navigation from their cache. */
const WORKERS = {
  workbox: `importScripts(${['core', 'routing', 'strategies', 'precaching'].map((part) => `'/workbox-${part}.js'`)})
${findRecipe('precacheAndRoute')}`,
  plain: `self.addEventListener('install', (event) => event.waitUntil(caches.open('1').then((cache) => cache.addAll(['/shell', '/.sallyport/pass.js']))))
self.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url)
  if (event.request.mode === 'navigate' && !pathname.startsWith('/.sallyport/')) event.respondWith(caches.match('/shell'))
  else event.respondWith(caches.match(event.request).then((kept) => kept || fetch(event.request)))
})`,
}

const SHELLS = {
  'with pass.js': writeShell(SCRIPT, "const answer = await fetch('/ordered?item=1')"),
  'without it': writeShell('', findRecipe('location.assign').replace('/api/cart', '/ordered?item=1')),
}

for (const [worker, text] of Object.entries(WORKERS)) {
  for (const [name, shell] of Object.entries(SHELLS)) {
    t.test(`a cached page of a worker, ${worker}, ${name}`, { skip }, async (t) => {
      const site = await openApplication(t, { '/shell': shell, '/worker.js': text })
      const context = await (await openReader(t))()
      const page = await context.newPage()
      await page.goto(`${site.url}/shell?item=1#there`)
      await page.getByText('Ordered: item=1').waitFor()
      await page.goto('about:blank')
      await endPass(context)
      const before = site.arrived.length
      await page.goto(`${site.url}/shell?item=1#there`)
      await page.getByText('Ordered: item=1').waitFor()
      t.equal(page.url(), `${site.url}/shell?item=1${name === 'with pass.js' ? '#there' : ''}`)
      t.notOk(site.arrived.slice(before).includes('GET /shell'), 'the page is that of the cache')
    })
  }
}
