import { buffer } from 'node:stream/consumers'
import { listener } from '@sallyport/node'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { openWithoutData } from '../hosts/without-data.ts'
import { openTab, says } from './reader.ts'

/* `pass.js` in a page of an application, whose policy of content allows scripts of its own site alone. */
const skip = NO_CHROMIUM

interface App {
  readonly url: string
  /** Method, target and body of the requests that reached the application below `/api`. */
  readonly arrived: readonly string[]
  /** Solutions that were sent. */
  readonly solved: readonly string[]
}

const CSP = "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'"
const HTML = `<!doctype html><html lang="en"><title>App</title><script src="/.sallyport/pass.js"></script><h1>App</h1>
<form method="post" action="/api/form"><input name="word" value="grün"><button name="go" value="1">Send</button></form>`

async function openApp(t: Test, page = HTML): Promise<App> {
  const levels = ([1, 2, 3] as const).map((level) => ({
    id: `ask-${level}`,
    match: { path: [`/api/${level}/**`, ...(level === 2 ? ['/api/form'] : [])] },
    action: 'challenge' as const,
    challenge: { level },
  }))
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: levels } })
  const [arrived, solved]: [string[], string[]] = [[], []]
  const handle = listener(sallyport, async (req, res) => {
    const { method, url = '' } = req
    if (!url.startsWith('/api/')) {
      res.setHeader('content-security-policy', CSP)
      return res.setHeader('content-type', 'text/html').end(page)
    }
    arrived.push(`${method} ${url} ${await buffer(req)}`.trim())
    return res.setHeader('content-type', 'application/json').end(JSON.stringify({ came: url, x: req.headers['x-app'] }))
  })
  const url = await startOrigin(t, (req, res) => {
    req.headers['x-forwarded-for'] = '93.184.216.34'
    req.rawHeaders.push('X-Forwarded-For', '93.184.216.34')
    if (req.headers['sallyport-solution'] !== undefined) solved.push(String(req.url))
    return handle(req, res)
  })
  return { url, arrived, solved }
}

/** Opens the application, and a tab on its page. */
async function openPage(t: Test, html?: string): Promise<App & { readonly page: Page }> {
  const app = await openApp(t, html)
  const page = await openTab(t)
  await page.goto(app.url)
  return { ...app, page }
}

t.test('fetch: one solution for many, bodies are kept, and each is repeated once', { skip }, async (t) => {
  const { page, arrived, solved } = await openPage(t)
  const came = await page.evaluate(`Promise.all([
    fetch('/api/2/text', { method: 'POST', body: 'text', headers: { 'x-app': '1' } }),
    fetch(new Request('/api/2/request', { method: 'PUT', body: 'request' })),
    fetch(new URL('/api/2/url', location), { method: 'POST', body: new URLSearchParams({ a: 1 }) }),
  ]).then((all) => Promise.all(all.map((one) => one.json())))`)
  t.match(came, [{ came: '/api/2/text', x: '1' }, { came: '/api/2/request' }, { came: '/api/2/url' }])
  const sent = ['POST /api/2/text text', 'POST /api/2/url a=1', 'PUT /api/2/request request']
  t.same(arrived.toSorted(), sent)
  t.equal(solved.length, 1)
  t.equal(await page.evaluate(`fetch('/api/3/more').then((one) => one.status)`), 200, 'a higher level is solved again')
  t.equal(solved.length, 2)
  t.equal(await page.evaluate(`fetch('/api/1/less', { credentials: 'omit' }).then((one) => one.status)`), 403)
  const refused = `fetch('/api/1/x', { signal: AbortSignal.abort() }).catch((error) => error.name)`
  t.equal(await page.evaluate(refused), 'AbortError')
})

t.test('level 1 waits in place of work', { skip }, async (t) => {
  const { page } = await openPage(t)
  t.equal(await page.evaluate(`fetch('/api/1/x').then((one) => one.status)`), 200)
})

const XHR = `(function (type, target, body) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(), events = []
    request.onreadystatechange = () => events.push('state ' + request.readyState)
    request.open('POST', target)
    request.responseType = type
    request.setRequestHeader('x-app', '1')
    request.upload.onabort = () => {}
    for (const name of ['load', 'error', 'abort']) request.addEventListener(name, () => events.push(name))
    request.onloadend = async () => {
      const response = type === 'blob' ? await request.response.text() : request.response
      const text = type === 'arraybuffer' ? new TextDecoder().decode(response) : response
      resolve([request.status, typeof text === 'string' ? JSON.parse(text) : text, events, request instanceof XMLHttpRequest])
    }
    request.send(body)
  })
})`

t.test('XMLHttpRequest: its listeners see the second answer alone', { skip }, async (t) => {
  for (const type of ['', 'json', 'blob', 'arraybuffer']) {
    const { page, arrived } = await openPage(t)
    const [status, json, events, isOwn] = (await page.evaluate(`${XHR}('${type}', '/api/2/x', 'body')`)) as unknown[]
    t.match([status, json, isOwn], [200, { came: '/api/2/x', x: '1' }, true], type)
    t.same(events, ['state 1', 'state 2', 'state 3', 'state 4', 'load'])
    t.same(arrived, ['POST /api/2/x body'])
  }
  const { page, arrived } = await openPage(t)
  const aborted = await page.evaluate(`new Promise((resolve) => {
    const request = new XMLHttpRequest(), events = []
    for (const name of ['load', 'abort', 'loadend']) request.addEventListener(name, () => {
      events.push(name)
      if (name === 'loadend') setTimeout(() => resolve(events), 500)
    })
    request.open('GET', '/api/3/x')
    request.send()
    setTimeout(() => request.abort(), 100)
  })`)
  t.same(aborted, ['abort', 'loadend'])
  t.same(arrived, [], 'what was aborted is not sent')
})

t.test('a request that cannot be solved gets its own answer', { skip }, async (t) => {
  const { page } = await openPage(t)
  await page.route('**/.sallyport/pass', (route) => route.fulfill({ status: 500 }))
  const json = `fetch('/api/2/x').then(async (one) => [one.status, (await one.json()).error])`
  t.same(await page.evaluate(json), [403, 'challenge_required'])
  const [status, body, events] = (await page.evaluate(`${XHR}('', '/api/2/x')`)) as unknown[]
  t.match([status, body], [403, { error: 'challenge_required' }])
  t.same(events, ['state 1', 'state 4', 'load'])
  t.equal(await page.evaluate(`sallyport.pass('/api/2/x')`), false)
})

t.test('a native form is sent once, with its button, and its pass is there before', { skip }, async (t) => {
  const { page, arrived, solved } = await openPage(t)
  await page.getByRole('button').dblclick()
  await page.waitForURL('**/api/form')
  t.match(await page.textContent('body'), '"came":"/api/form"')
  t.equal(arrived[0], 'POST /api/form word=gr%C3%BCn&go=1')
  t.equal(solved.length, 1)
})

t.test('without pass.js the page of the form earns the pass, and goes back to what was typed', { skip }, async (t) => {
  const { page, arrived } = await openPage(t, HTML.replace(/<script.*script>/, ''))
  await page.getByRole('textbox').fill('typed')
  await page.getByRole('button').click()
  await says(page, 'Done. Go back and send the form again.')
  t.equal(await page.textContent('h1'), 'Your form was not sent.')
  t.same(arrived, [])
  await page.getByRole('link', { name: 'Back to the form' }).click()
  await page.getByRole('heading', { name: 'App' }).waitFor()
  t.equal(await page.getByRole('textbox').inputValue(), 'typed')
  await page.getByRole('button').click()
  await page.waitForURL('**/api/form')
  await page.getByText('"came":"/api/form"').waitFor()
  t.same(arrived, ['POST /api/form word=typed&go=1'])
})
