import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { disableCookies, FINDS, listen, openReader, opens, openTab, says } from './reader.ts'
import { NO_OPENSSL, openSite } from './site.ts'

/* A provider on loopback asks at level 3: its widget in a Chromium, and what becomes of visitors where it is away. */
const skip = NO_CHROMIUM || NO_OPENSSL
const SECRET = 'a secret of the provider'

/** Fills its element as the widgets of the field do: a part of its own origin, and a hidden field with a token. */
const WIDGET = `
  var box = document.querySelector('.cf-turnstile')
  var origin = new URL(document.currentScript.src).origin
  box.innerHTML = '<style>.cf-turnstile { min-height: 2rem }</style><iframe title="widget" src="' + origin + '/frame"></iframe>' +
    '<button type="button">I am here</button><input type="hidden" name="cf-turnstile-response">'
  fetch(origin + '/seen?' + box.dataset.sitekey)
  box.querySelector('button').onclick = function () {
    fetch(origin + '/token').then(function (got) { return got.text() }).then(function (token) {
      box.querySelector('input').value = token
    })
  }
`

interface Provider {
  readonly origin: string
  readonly asked: string[]
  readonly forms: URLSearchParams[]
  /** Answers in place of the provider; a falsy return: it does not. */
  instead: (req: IncomingMessage, res: ServerResponse) => unknown
}

async function openProvider(t: Test): Promise<Provider> {
  const given = new Set<string>()
  const asked: string[] = []
  const forms: URLSearchParams[] = []
  const state: { instead: Provider['instead'] } = { instead: () => false }
  const origin = await startOrigin(t, async (req, res) => {
    asked.push(`${req.method} ${req.url}`)
    const form = new URLSearchParams(await text(req))
    if (state.instead(req, res)) return
    res.setHeader('access-control-allow-origin', '*')
    if (req.url === '/turnstile/v0/api.js') return res.setHeader('content-type', 'text/javascript').end(WIDGET)
    if (req.url === '/token') {
      const token = `token-${given.size}`
      given.add(token)
      return res.end(token)
    }
    if (req.url !== '/turnstile/v0/siteverify') return res.setHeader('content-type', 'text/html').end('<!doctype html>')
    forms.push(form)
    // Each token is taken once.
    const success = form.get('secret') === SECRET && given.delete(form.get('response') ?? '')
    return res.end(JSON.stringify({ success }))
  })
  return Object.assign(state, { origin, asked, forms })
}

/** Opens a provider, and a site that asks it. */
async function openBoth(t: Test) {
  const provider = await openProvider(t)
  const own = { kind: 'turnstile', url: provider.origin, siteKey: 'public-key', secret: SECRET } as const
  const site = await openSite(t, new Map(), {
    net: { allowPrivate: ['127.0.0.0/8'] },
    challenge: { provider: own },
  })
  return { provider, site }
}

t.test('its widget asks at level 3 alone, and its token opens the page', { skip }, async (t) => {
  const { provider, site } = await openBoth(t)
  const page = await openTab(t)
  const complaints = listen(page)
  for (const level of [1, 2]) {
    const answer = await page.goto(`${site.url}/asked/${level}`)
    t.notMatch(answer?.headers()['content-security-policy'], provider.origin)
    t.notMatch(await answer?.text(), provider.origin)
    await opens(page)
  }
  t.same(provider.asked, [], 'nobody is sent to the provider by a lower level')
  const answer = await page.goto(`${site.url}/asked/3?a=1#there`)
  const csp = answer?.headers()['content-security-policy'] ?? ''
  t.match(csp, `frame-src ${provider.origin};`)
  t.match(csp, `connect-src 'self' ${provider.origin};`)
  t.match(csp, /^default-src 'none'; script-src 'sha256-\S+' 'wasm-unsafe-eval' http:\/\/127\.0\.0\.1:\d+;/)
  await says(page, 'Turnstile performs this check.')
  await page.getByRole('button', { name: 'I am here' }).waitFor()
  t.same(await page.evaluate(FINDS), [])
  await page.waitForTimeout(1_000)
  t.ok(provider.asked.includes('GET /seen?public-key'))
  t.ok(provider.asked.includes('GET /frame'), 'its frame is shown')
  t.same(provider.forms, [], 'nothing is asked before there is a token')
  await page.getByRole('button', { name: 'I am here' }).click()
  await opens(page)
  t.equal(page.url(), `${site.url}/asked/3?a=1#there`)
  t.same(provider.forms.map(String), [String(new URLSearchParams({ secret: SECRET, response: 'token-0' }))])
  t.same(complaints, [])
})

t.test('who runs no script, or keeps no cookie, is not sent to the provider', { skip }, async (t) => {
  const { provider, site } = await openBoth(t)
  const newContext = await openReader(t)
  const plain = await (await newContext({ javaScriptEnabled: false })).newPage()
  await plain.goto(`${site.url}/asked/3`)
  await says(plain, 'This check needs JavaScript.')
  const page = await (await newContext()).newPage()
  await disableCookies(page)
  await page.goto(`${site.url}/asked/3`)
  await says(page, 'Your browser does not accept the cookie')
  t.same(provider.asked, [])
})

t.test('a token that is no good is followed by another question', { skip }, async (t) => {
  const { provider, site } = await openBoth(t)
  const page = await openTab(t)
  provider.instead = (req, res) =>
    req.url === '/token' && res.setHeader('access-control-allow-origin', '*').end('forged')
  await page.goto(`${site.url}/asked/3`)
  await page.getByRole('button').click()
  await page.waitForEvent('load')
  provider.instead = () => false
  await page.getByRole('button').click()
  await opens(page)
  t.match(provider.forms.map(String), [/forged/, /token-0/])
})

t.test('while the provider is silent our work asks, for a pass of five minutes', { skip }, async (t) => {
  const { provider, site } = await openBoth(t)
  const newContext = await openReader(t)
  const page = await (await newContext()).newPage()
  // The provider hangs and sends no answer at all.
  provider.instead = (req) => req.url === '/turnstile/v0/siteverify'
  await page.goto(`${site.url}/asked/3`)
  await page.getByRole('button').click()
  await opens(page)
  t.equal(provider.asked.filter((one) => one.endsWith('/siteverify')).length, 1)
  const other = await (await newContext()).newPage()
  const answer = await other.goto(`${site.url}/asked/3`)
  t.notMatch(answer?.headers()['content-security-policy'], provider.origin)
  await opens(other)
  t.equal(provider.asked.filter((one) => one.endsWith('/siteverify')).length, 1, 'it is not asked again for a minute')
  const [cookie] = await other.context().cookies()
  t.ok((cookie?.expires ?? 0) - Date.now() / 1000 < 301)
})

t.test('a widget that cannot be loaded says so, and work asks or five tries end', { skip }, async (t) => {
  const { provider, site } = await openBoth(t)
  const newContext = await openReader(t)
  provider.instead = (req, res) => req.url === '/turnstile/v0/api.js' && res.writeHead(404).end()
  const blocked = await (await newContext()).newPage()
  await blocked.goto(`${site.url}/asked/3`)
  await says(blocked, 'The check did not work.')
  t.equal(provider.forms.length, 5)
  t.ok(await blocked.getByRole('link', { name: 'Open the page' }).isVisible())
  provider.instead = (_, res) => res.destroy()
  const page = await (await newContext()).newPage()
  await page.goto(`${site.url}/asked/3`)
  await opens(page)
})
