import type { Page } from 'playwright-core'
import t from 'tap'
import { NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { FIRST_ASN, hostileAddress, NAUGHTY_NAME, openHostileScene } from './hostile.ts'
import { ADMIN, AS_READER, until } from './scene.ts'
import { viewIds } from './views.ts'

const LENGTH = 3_000
/** Without a place where a line could be broken, wide letters, and none that are seen. */
const LONG = ['W'.repeat(LENGTH), `${'漢'.repeat(LENGTH / 2)}${'/'.repeat(LENGTH / 2)}`, '\u200b\u202e'.repeat(1_000)]

const WIDTHS = [390, 768, 1280]

const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  inspect: [`?target=${hostileAddress(0)}`, `?target=${NAUGHTY_NAME}`, `?target=${'w'.repeat(LENGTH)}`],
  directory: ['', `?asn=${FIRST_ASN}`, `?q=${'W'.repeat(LENGTH)}`],
  live: ['', `?text=${'W'.repeat(LENGTH)}`],
}

/** Elements wider than their place, but for what scrolls within it, and cards that are far higher than a screen. */
function stretched(page: Page): Promise<readonly string[]> {
  return page.evaluate(`(() => {
    const width = document.documentElement.clientWidth
    const scrolls = (one) => one !== null && (/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement))
    const wide = [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > width + 1 && !scrolls(one.parentElement))
    const high = [...document.querySelectorAll('td, th, li, .row, h1, h2, h3, dd, summary, p, button, option, legend')].filter((one) =>
      one.querySelector('td, li, pre') === null && one.getBoundingClientRect().height > 700)
    const far = [...document.querySelectorAll('.scroll, form, nav, header')].filter((one) => one.scrollWidth > 1500)
    const total = document.documentElement.scrollWidth > width ? ['the page: ' + document.documentElement.scrollWidth] : []
    return [...total, ...[...wide, ...high, ...far].map((one) => one.localName + '.' + one.className + ' ' + Math.round(one.getBoundingClientRect().width) + 'x' + Math.round(one.getBoundingClientRect().height) + ' ' + one.textContent.slice(0, 30))].slice(0, 8)
  })()`)
}

t.test('a name of 3,000 letters does not stretch the page', { skip: NO_BROWSER }, async (t) => {
  const scene = await openHostileScene(t, LONG)
  const browser = await openBrowser(t)
  const { page, complaints } = await openPage(t, browser, scene.adminUrl)
  const listed = await fetch(`${scene.adminUrl}/console/api/requests?limit=9`, { headers: AS_READER })
  const { requests } = (await listed.json()) as { readonly requests: readonly { readonly id: string }[] }
  t.ok(requests.length > 5)
  const questions = { ...QUESTIONS, request: requests.slice(0, 6).map(({ id }) => `?id=${id}`) }
  const look = async (place: string): Promise<void> => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 860 })
      // Charts take their width when the page says that it has changed.
      let found: readonly string[] = []
      await until(async () => {
        found = await stretched(page)
        return found.length === 0
      }).catch(() => {})
      t.same(found, [], `${place.slice(0, 40)} at ${width}`)
    }
    const folder = process.env['SALLYPORT_PICTURES']
    const name = place.replaceAll(/[^\w-]/g, '').slice(0, 30)
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
  }
  for (const id of await viewIds()) {
    for (const question of questions[id as keyof typeof questions] ?? ['']) {
      await page.goto('about:blank')
      await page.goto(`${scene.adminUrl}/#/${id}${question}`)
      await page.locator('h1').waitFor()
      await until(async () => (await page.locator('.loading').count()) === 0)
      if (id === 'ledger') await page.getByRole('button', { name: 'Open', exact: true }).click()
      if (id === 'ledger') await page.getByText('Chained records').waitFor()
      if (id === 'live' && question === '') await page.locator('.stream .row').first().waitFor()
      await look(`${id}${question}`)
    }
  }
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Token').fill(ADMIN)
  await page.locator('form').getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Administrator', { exact: true }).waitFor()
  for (const id of ['accounts', 'bans']) {
    await page.goto(`${scene.adminUrl}/#/${id}`)
    await page.locator('main h2').first().waitFor()
    await look(`${id}-admin`)
  }
  t.same(complaints, [])
})
