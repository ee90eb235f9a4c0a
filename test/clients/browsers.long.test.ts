import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { digest, FILE, PACKED } from './origin.ts'
import { missing, run } from './programs.ts'
import { NO_OPENSSL, openSite } from './site.ts'

/** A page of a Chromium that is taken for a reader's. */
async function openReader(t: Test): Promise<Page> {
  const browser = await openChromium()
  t.teardown(() => browser.close())
  const userAgent = readersAgent(browser)
  const context = await browser.newContext({ userAgent, locale: 'en-GB', ignoreHTTPSErrors: true })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return page
}

for (const scheme of ['http', 'https'] as const) {
  t.test(`Chromium, over ${scheme}`, { skip: NO_CHROMIUM || NO_OPENSSL }, async (t) => {
    const site = await openSite(t)
    const base = scheme === 'http' ? site.url : site.secure
    const page = await openReader(t)
    const arrived = () => site.since().filter((row) => !row.includes('favicon'))

    t.equal((await page.goto(`${base}/moved`))?.url(), `${base}/page`)
    t.equal(await page.textContent('h1'), 'A page')
    t.same(arrived(), ['GET /moved human allow', 'GET /page human allow'])
    await page.click('a')
    await page.waitForURL('**/second')
    await page.goBack()
    await page.click('button')
    await page.waitForURL('**/form')
    t.match(await page.textContent('p'), `POST application/x-www-form-urlencoded ${digest('word=gr%C3%BCn')}`)
    t.ok(arrived().every((row) => row.endsWith(' human allow')))

    t.equal(await page.evaluate("fetch('/packed').then((answer) => answer.text())"), PACKED)
    const part =
      "fetch('/file', { headers: { Range: 'bytes=100-199' } }).then(async (answer) => answer.status + await answer.text())"
    t.equal(await page.evaluate(part), `206${FILE.subarray(100, 200)}`)
    t.match(
      await page.evaluate(
        "fetch('/form', { method: 'POST', body: 'x'.repeat(200000) }).then((answer) => answer.text())",
      ),
      digest('x'.repeat(200_000)),
    )
    t.same(arrived(), ['GET /packed human allow', 'GET /file human allow', 'POST /form human allow'])

    const type = "fetch('/blocked').then((answer) => answer.status + ' ' + answer.headers.get('content-type'))"
    t.equal(await page.evaluate(type), '403 application/json; charset=utf-8', 'a script gets JSON')
    const refused = await page.goto(`${base}/blocked`)
    t.equal(refused?.status(), 403)
    t.equal(await page.title(), 'Access denied')
    t.match(
      await page.textContent('main'),
      /This site has refused the request\.\s+If you think .* help@site\.example\s/,
    )
    t.same(arrived(), ['GET /blocked human block', 'GET /blocked human block'])
  })
}

/** All but loopback goes to a proxy that is not there: a new profile has much to ask its maker. */
const PREFERENCES = [
  ['network.proxy.type', 1],
  ...['http', 'ssl'].flatMap((kind) => [
    [`network.proxy.${kind}`, '127.0.0.1'] as const,
    [`network.proxy.${kind}_port`, 9] as const,
  ]),
  ['network.proxy.no_proxies_on', '127.0.0.1, localhost'],
  ['network.captive-portal-service.enabled', false],
  ['network.connectivity-service.enabled', false],
  ['datareporting.policy.dataSubmissionEnabled', false],
] as const

t.test('Firefox, without a window', { skip: missing('firefox') || NO_OPENSSL }, async (t) => {
  const { home, url, since, arrived } = await openSite(t)
  const lines = PREFERENCES.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`)
  const visit = async (path: string): Promise<readonly string[]> => {
    // A folder of its own: on a busy machine the browser before still has its profile.
    const folder = mkdtempSync(join(home, 'visit-'))
    const [profile, shot] = [join(folder, 'profile'), join(folder, 'shot.png')]
    mkdirSync(profile)
    writeFileSync(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--no-remote', '--profile', profile, '--screenshot', shot, url + path]
    const { err } = await run(home, 'firefox', args)
    t.ok(existsSync(shot), err)
    return since().filter((row) => !row.includes('favicon'))
  }
  t.same(await visit('/moved'), ['GET /moved human allow', 'GET /page human allow'])
  const asked = ['GET /packed', 'GET /file', 'GET /blocked', 'POST /form', 'POST /report']
  const rows = ['GET /script', ...asked].map((row) => `${row} human ${row.endsWith('/blocked') ? 'block' : 'allow'}`)
  t.same(await visit('/script'), rows)
  t.match(JSON.parse(String(arrived.at(-1)?.body)), [
    [200, PACKED],
    [206, String(FILE.subarray(100, 200))],
    [403, /^\{"error":"request_blocked"/],
    [200, new RegExp(digest('x'.repeat(200_000)))],
  ])
  t.same(await visit('/blocked'), ['GET /blocked human block'])
})
