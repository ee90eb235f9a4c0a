import { join } from 'node:path'
import { challenge, inspection } from '@sallyport/express'
import express from 'express'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { openWithoutData } from '../hosts/without-data.ts'
import { FIREFOX, missingFiles, start, WEBKIT, XVFB } from './programs.ts'
import { FINDS, openTab } from './reader.ts'

/* The field of forms in real browsers, with and without script, under a policy of content that allows scripts of its own site alone. */
const CSP = "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'"

const page = (more = '') => `<!doctype html><html lang="en"><head><title>Contact</title>
<meta name="viewport" content="width=device-width"><script src="/.sallyport/field.js" defer></script>${more}</head><body><main>
<h1>Contact</h1><form method="post" action="/contact"><p><label>Word <input name="word" value="grün"></label></p>
<div class="sallyport" data-action="contact"></div><p><button name="go" value="1">Send</button></p></form></main></body></html>`

interface Shop {
  readonly url: string
  /** Bodies of the forms that arrived. */
  readonly arrived: Readonly<Record<string, string>>[]
  /** Requests for puzzles. */
  readonly asked: string[]
}

async function openShop(t: Test, parts = ''): Promise<Shop> {
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe' }, trustProxy: [] })
  const [arrived, asked]: [Shop['arrived'], string[]] = [[], []]
  const app = express()
  app.use((req, _res, next) => {
    if (req.url.startsWith('/.sallyport/field?')) asked.push(req.url)
    // A visitor of this machine is never challenged.
    Object.defineProperty(req.socket, 'remoteAddress', { value: '93.184.216.34', configurable: true })
    next()
  })
  app.use(inspection(sallyport), express.urlencoded({ extended: false }))
  app.get('/auto.js', (_req, res) => {
    const script = "addEventListener('load', () => document.querySelector('button').click())"
    res.type('text/javascript').send(script)
  })
  app.get('/', (_req, res) => void res.set('content-security-policy', CSP).send(page(parts)))
  app.post('/contact', challenge(sallyport, { form: 'contact' }), (req, res) => {
    arrived.push(req.body as Shop['arrived'][0])
    res.set('content-security-policy', CSP).send('<!doctype html><title>Thanks</title><h1>Thanks</h1>')
  })
  return { url: await startOrigin(t, app), arrived, asked }
}

/** Opens the shop, and a tab on its page. */
async function visit(t: Test, javaScriptEnabled = true): Promise<Shop & { readonly tab: Page }> {
  const shop = await openShop(t)
  const tab = await openTab(t, { javaScriptEnabled })
  await tab.goto(shop.url)
  return { ...shop, tab }
}

const thanks = (tab: Page) => tab.getByRole('heading', { name: 'Thanks' }).waitFor()

t.test('a person notices nothing, and the work begins with the first key', { skip: NO_CHROMIUM }, async (t) => {
  const { tab, arrived, asked } = await visit(t)
  t.same(await tab.evaluate(FINDS), [], 'axe finds nothing')
  t.same(asked, [], 'a form that nobody uses costs nothing')
  await tab.getByLabel('Word').fill('blau')
  await tab.locator('[name="sallyport-token"][value]:not([value=""])').waitFor({ state: 'attached' })
  t.same(await tab.evaluate(FINDS), [])
  await tab.getByRole('button').click()
  await thanks(tab)
  t.match(arrived, [{ word: 'blau', go: '1', 'sallyport-token': /^[\w-]{96}\.[\d,]+$/ }])
  await tab.goBack()
  await tab.getByRole('button').click()
  await thanks(tab)
  t.equal(arrived.length, 2, 'the page that returns from the cache earns another token')
})

t.test('a form that is sent at once waits, with a status that is read out', { skip: NO_CHROMIUM }, async (t) => {
  const { tab, arrived } = await visit(t)
  await tab.route('**/.sallyport/field?*', async (route) => {
    await tab.getByLabel('Word').waitFor()
    await route.continue()
  })
  await tab.evaluate("document.querySelector('button').click()")
  await thanks(tab)
  t.match(arrived, [{ word: 'grün', go: '1', 'sallyport-token': /./ }])
})

t.test('a form whose puzzles cannot be had is sent, and gets the page', { skip: NO_CHROMIUM }, async (t) => {
  const { tab, arrived } = await visit(t)
  await tab.route('**/.sallyport/field?*', (route) => route.abort())
  await tab.getByRole('button').click()
  await tab.getByText('Done. Go back and send the form again.').waitFor()
  await tab.getByRole('link', { name: 'Back to the form' }).click()
  await tab.getByRole('button').click()
  await thanks(tab)
  t.match(arrived, [{ word: 'grün' }])
})

t.test('without script the form goes by the page, and back', { skip: NO_CHROMIUM }, async (t) => {
  const { tab, arrived } = await visit(t, false)
  await tab.getByLabel('Word').fill('rot')
  await tab.getByRole('button').click()
  await tab.getByRole('heading', { name: 'Your form was not sent.' }).waitFor()
  await tab.getByRole('link', { name: 'Back to the form' }).click()
  await tab.getByLabel('Word').fill('rot')
  await tab.getByRole('button').click()
  await thanks(tab)
  t.match(arrived, [{ word: 'rot', go: '1' }])
})

t.test('a script requests a token without a form', { skip: NO_CHROMIUM }, async (t) => {
  const { tab } = await visit(t)
  const status = await tab.evaluate(`sallyport.token('contact').then(token => fetch('/contact', {
    method: 'POST', body: new URLSearchParams({ word: 'script', 'sallyport-token': token }) })).then(({ status }) => status)`)
  t.equal(status, 200)
  t.equal(await tab.evaluate("sallyport.token('a b').catch(status => status)"), 400)
})

for (const [name, program, args] of [
  ['Firefox', FIREFOX, [FIREFOX, '--headless', '--no-remote', '--profile', 'profile']],
  ['WebKitGTK', WEBKIT, [XVFB, '-a', WEBKIT, '--private']],
] as const) {
  t.test(`${name} sends a form with its token`, { skip: missingFiles(program, XVFB) }, async (t) => {
    const shop = await openShop(t, '<script src="/auto.js" defer></script>')
    const home = t.testdir({ profile: {} })
    const close = start(t, home, [...args.map((arg) => arg.replace(/^profile$/, join(home, arg))), shop.url])
    while (shop.arrived.length === 0) await new Promise((resolve) => setTimeout(resolve, 100))
    t.match(shop.arrived, [{ word: 'grün', go: '1', 'sallyport-token': /^[\w-]{96}\.[\d,]+$/ }])
    await close()
  })
}
