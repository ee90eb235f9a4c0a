import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { openWindow, type Window } from './devtools.ts'
import { missing, run } from './programs.ts'
import { openReader, opens } from './reader.ts'
import { NO_OPENSSL, openSite, type Site } from './site.ts'

/* The page that asks under conditions that automation and a default profile do not have. */
const skip = NO_CHROMIUM || NO_OPENSSL

/** Resolves once the wanted page is in a window. */
async function isThere({ read }: Window, path: string): Promise<void> {
  const wanted = `location.pathname === '${path}' && document.querySelector('h1')?.textContent === 'Another page'`
  while ((await read(wanted)) !== true) await after(50)
}

const questionsOf = ({ decided }: Site): number => decided.filter(({ action }) => action === 'challenge').length

t.test('Back to a page that was asked for, from the back/forward cache: no question, no loop', { skip }, async (t) => {
  for (const level of [1, 2] as const) {
    const site = await openSite(t)
    const window = await openWindow(t, site.home)
    const { send, read, events } = window
    await send('Page.enable')
    await send('Page.navigate', { url: `${site.url}/asked/${level}` })
    await isThere(window, `/asked/${level}`)
    await read('globalThis.kept = 1')
    const questions = questionsOf(site)
    const { currentIndex, entries } = (await send('Page.getNavigationHistory')) as unknown as History
    t.equal(currentIndex, 1, 'the question leaves no entry of its own')
    await read(`location.href = '/asked/${level}/next'`)
    await isThere(window, `/asked/${level}/next`)
    await send('Page.navigateToHistoryEntry', { entryId: entries[1]?.id })
    await isThere(window, `/asked/${level}`)
    t.equal(await read('globalThis.kept'), 1, `of the cache: ${JSON.stringify(events('Page.backForwardCacheNotUsed'))}`)
    await after(1_500)
    await isThere(window, `/asked/${level}`)
    t.equal(questionsOf(site), questions)
  }
})

interface History {
  readonly currentIndex: number
  readonly entries: readonly { readonly id: number; readonly url: string }[]
}

t.test('without JIT, WebAssembly, shared memory and workers', { skip }, async (t) => {
  const site = await openSite(t)
  const context = await (await openReader(t, '--js-flags=--jitless'))()
  // Chromium keeps WebAssembly by an interpreter of it.
  const absent = ['WebAssembly', 'SharedArrayBuffer', 'Worker', 'SharedWorker']
  await context.addInitScript(absent.map((name) => `delete globalThis.${name}`).join(';'))
  const page = await context.newPage()
  await page.goto(`${site.url}/asked/2`)
  await opens(page)
  t.same(await page.evaluate(`['${absent.join("','")}'].filter((name) => name in globalThis)`), [])
})

t.test('a profile that refuses all cookies: a sentence, and nothing is loaded again', { skip }, async (t) => {
  for (const level of [1, 2] as const) {
    const site = await openSite(t)
    const folder = join(site.home, 'chromium', 'Default')
    mkdirSync(folder, { recursive: true })
    const refused = { profile: { default_content_setting_values: { cookies: 2 } } }
    writeFileSync(join(folder, 'Preferences'), JSON.stringify(refused))
    const { send, read } = await openWindow(t, site.home)
    await send('Page.navigate', { url: `${site.url}/asked/${level}` })
    const isSaid = "document.body?.innerText.includes('Your browser does not keep the cookie')"
    while ((await read(isSaid)) !== true) await after(50)
    const asked = site.decided.length
    await after(3_000)
    t.equal(site.decided.length, asked)
    t.ok(asked <= 6, String(asked))
    t.same(
      site.arrived.filter(({ target }) => target.startsWith('/asked')),
      [],
    )
  }
})

t.test('two tabs that ask at one time both open', { skip }, async (t) => {
  const site = await openSite(t)
  const context = await (await openReader(t))()
  const tabs = await Promise.all([1, 2, 3].map(() => context.newPage()))
  await Promise.all(tabs.map((tab, at) => tab.goto(`${site.url}/asked/${(at % 2) + 1}?tab=${at}`)))
  await Promise.all(tabs.map(opens))
  t.ok(questionsOf(site) <= 12, String(questionsOf(site)))
})

for (const shift of ['-1d', '+1d']) {
  const noFaketime = missing('faketime', '--version')
  t.test(`a client whose clock is wrong by a day (${shift})`, { skip: skip || noFaketime }, async (t) => {
    const site = await openSite(t)
    const window = await openWindow(t, site.home, ['faketime', '-f', shift])
    for (const level of [1, 2] as const) {
      await window.send('Page.navigate', { url: `${site.url}/asked/${level}` })
      await isThere(window, `/asked/${level}`)
    }
    const off = Math.abs(Number(await window.read('Date.now()')) - Date.now())
    t.ok(off > 80_000_000, `its clock: ${off}`)
    const questions = questionsOf(site)
    await window.send('Page.navigate', { url: `${site.url}/asked/2/again` })
    await isThere(window, '/asked/2/again')
    t.equal(questionsOf(site), questions, 'the cookie is kept by a clock of its own')
  })
}

t.test('what a page speculates about is not asked, and opens when somebody wants it', { skip }, async (t) => {
  const site = await openSite(t)
  const page = await (await (await openReader(t))()).newPage()
  for (const kind of ['prefetch', 'prerender'] as const) {
    await page.goto(`${site.url}/`)
    site.since()
    const path = `/asked/2/${kind}`
    await page.evaluate(`{
      const rules = document.createElement('script')
      rules.type = 'speculationrules'
      rules.textContent = '{"${kind}":[{"source":"list","urls":["${path}"],"eagerness":"immediate"}]}'
      document.head.append(rules)
    }`)
    while (!site.decided.some(({ inspection }) => inspection.request.path === path)) await after(50)
    t.notOk(
      (await page.context().cookies()).some(({ name }) => name === 'sallyport-challenge'),
      kind,
    )
    t.notOk(site.arrived.some(({ target }) => target === path))
    await page.evaluate(`location.href = '${path}'`)
    await opens(page)
    await page.context().clearCookies()
  }
})

t.test(
  'programs that fetch files keep none',
  { skip: missing('wget') || missing('aria2c') || NO_OPENSSL },
  async (t) => {
    const { url, home, arrived } = await openSite(t)
    const wget = await run(home, 'wget', ['--no-proxy', '--tries=2', '-O', `${home}/by-wget`, `${url}/asked/2/file`])
    t.match([wget.code, wget.err], [8, /403/])
    const aria = ['--all-proxy=', '--max-tries=2', '-d', home, '-o', 'by-aria', '-x4', `${url}/asked/2/file`]
    const aria2 = await run(home, 'aria2c', aria)
    t.match([aria2.code, aria2.out], [22, /403/])
    t.notOk(existsSync(`${home}/by-aria`), readdirSync(home).join())
    t.same(arrived, [])
  },
)
