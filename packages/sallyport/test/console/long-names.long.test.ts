import t from 'tap'
import { NO_BROWSER, openView } from './browser.ts'
import { FIRST_ASN, hostileAddress, NAUGHTY_NAME, openHostileScene } from './hostile.ts'
import { until } from './scene.ts'
import { viewIds } from './views.ts'

const LENGTH = 3_000
/** Without a place where a line could be broken, wide letters, and none that are seen. */
const LONG = ['W'.repeat(LENGTH), `${'漢'.repeat(LENGTH / 2)}${'/'.repeat(LENGTH / 2)}`, '\u200b\u202e'.repeat(1_000)]

const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  inspect: [`?target=${hostileAddress(0)}`, `?target=${NAUGHTY_NAME}`, `?target=${'w'.repeat(LENGTH)}`],
  directory: ['', `?asn=${FIRST_ASN}`, `?q=${'W'.repeat(LENGTH)}`],
  live: ['', `?text=${'W'.repeat(LENGTH)}`],
}

/** Elements wider than their place, but for what scrolls within it, and cards that are far higher than a screen. */
const STRETCHED = `(() => {
  const width = document.documentElement.clientWidth
  const all = (selector) => [...document.querySelectorAll(selector)]
  const scrolls = (one) => one !== null && (/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement))
  const wide = all('main *').filter((one) => one.getBoundingClientRect().right > width + 1 && !scrolls(one.parentElement))
  const high = all('td, th, li, .row, h1, h2, h3, dd, summary, p, button, option, legend').filter((one) =>
    one.querySelector('td, li, pre') === null && one.getBoundingClientRect().height > 700)
  const far = all('.scroll, form, nav, header').filter((one) => one.scrollWidth > 1500)
  const total = document.documentElement.scrollWidth > width ? ['the page: ' + document.documentElement.scrollWidth] : []
  return [...total, ...[...wide, ...high, ...far].map((one) => one.localName + '.' + one.className + ' ' + one.textContent.slice(0, 30))].slice(0, 8)
})()`

t.test('a name of 3,000 letters does not stretch the page', { skip: NO_BROWSER }, async (t) => {
  const scene = await openHostileScene(t, LONG)
  const { page, complaints, settle, signIn } = await openView(t, scene)
  const { requests } = (await scene.ask('requests?limit=9')).body as { readonly requests: readonly { id: string }[] }
  t.ok(requests.length > 5)
  const questions = { ...QUESTIONS, request: requests.slice(0, 6).map(({ id }) => `?id=${id}`) }
  const look = async (place: string): Promise<void> => {
    await settle(place)
    if (place === 'ledger') await page.getByRole('button', { name: 'Open', exact: true }).click()
    if (place === 'ledger') await page.getByText('Chained records').waitFor()
    if (place === 'live') await page.locator('.stream .row').first().waitFor()
    for (const width of [390, 768, 1280]) {
      await page.setViewportSize({ width, height: 860 })
      // Charts take their width when the page says that it has changed.
      let found: unknown = []
      const end = performance.now() + 5_000
      await until(async () => {
        found = await page.evaluate(STRETCHED)
        return JSON.stringify(found) === '[]' || performance.now() > end
      })
      t.same(found, [], `${place.slice(0, 40)} at ${width}`)
    }
  }
  for (const id of await viewIds())
    for (const question of questions[id as keyof typeof questions] ?? ['']) await look(`${id}${question}`)
  await signIn()
  await page.getByText('Administrator', { exact: true }).waitFor()
  for (const id of ['accounts', 'bans']) await look(id)
  t.same(complaints, [])
})
