import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { openWindow, type Window } from './devtools.ts'
import { missing } from './programs.ts'
import { openReader, opens } from './reader.ts'
import { NO_OPENSSL, openSite, type Site } from './site.ts'

/* The page that asks under conditions that automation and a default profile do not have. */
const skip = NO_CHROMIUM || NO_OPENSSL

/** Resolves once the wanted page is in a window. */
async function isThere({ read }: Window, path: string): Promise<void> {
  const wanted = `location.pathname === '${path}' && document.querySelector('h1')?.textContent === 'Another page'`
  while ((await read(wanted)) !== true) await after(50)
}

const countQuestions = ({ decided }: Site): number => decided.filter(({ action }) => action === 'challenge').length

t.test('Back to a page that was asked for, from the back/forward cache: no question, no loop', { skip }, async (t) => {
  for (const level of [1, 2] as const) {
    const site = await openSite(t)
    const window = await openWindow(t, site.home)
    const { send, read, events } = window
    await send('Page.enable')
    await send('Page.navigate', { url: `${site.url}/asked/${level}` })
    await isThere(window, `/asked/${level}`)
    await read('globalThis.kept = 1')
    const questions = countQuestions(site)
    const { currentIndex, entries } = (await send('Page.getNavigationHistory')) as unknown as History
    t.equal(currentIndex, 1, 'the question leaves no entry of its own')
    await read(`location.href = '/asked/${level}/next'`)
    await isThere(window, `/asked/${level}/next`)
    await send('Page.navigateToHistoryEntry', { entryId: entries[1]?.id })
    await isThere(window, `/asked/${level}`)
    t.equal(await read('globalThis.kept'), 1, `of the cache: ${JSON.stringify(events('Page.backForwardCacheNotUsed'))}`)
    await after(1_500)
    await isThere(window, `/asked/${level}`)
    t.equal(countQuestions(site), questions)
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
    const questions = countQuestions(site)
    await window.send('Page.navigate', { url: `${site.url}/asked/2/again` })
    await isThere(window, '/asked/2/again')
    t.equal(countQuestions(site), questions, 'the cookie is kept by a clock of its own')
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
