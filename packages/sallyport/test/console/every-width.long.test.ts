import type { Page } from 'playwright-core'
import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { AS_READER, openScene, until, VISITOR } from './scene.ts'
import { viewIds } from './views.ts'

const WIDTHS = [390, 820, 1_440]
const SCHEMES = ['light', 'dark'] as const
const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)'

/** Parts that do not have the room for what they show: the page, tables that are cut, and words that are broken. */
function cramped(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[document.documentElement, ...document.querySelectorAll('.scroll, .card, nav, .who, form, .number-tile')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.localName + '.' + one.className + ' ' + one.scrollWidth + ' in ' + one.clientWidth + ': ' + (one.ariaLabel ?? one.innerText.slice(0, 30)))`)
}

t.test('every view has room at three widths, and axe finds nothing', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  for (const path of ['/', '/articles/gates', '/login'])
    for (const address of Object.values(VISITOR)) await scene.visit(address, { path })
  for (const userAgent of [GPTBOT, 'Google-Extended/1.0']) await scene.visit(VISITOR.home, { userAgent })
  const listed = await fetch(`${scene.adminUrl}/console/api/requests?limit=1&outcome=block`, { headers: AS_READER })
  const { requests } = (await listed.json()) as { readonly requests: readonly { readonly id: string }[] }
  const questions: Readonly<Record<string, string>> = {
    inspect: `?target=${VISITOR.tor}`,
    request: `?id=${requests[0]?.id}`,
  }
  const { page, complaints } = await openPage(t, browser, scene.adminUrl, { reducedMotion: 'reduce' })
  await page.goto(`${scene.adminUrl}/#/report`)
  // Counted, so that tables have rows.
  while (!(await page.getByRole('row', { name: 'no-tor' }).isVisible())) await page.waitForTimeout(100)
  for (const id of await viewIds()) {
    const place = `#/${id}${questions[id] ?? ''}`
    await page.goto('about:blank')
    await page.goto(`${scene.adminUrl}/${place}`)
    await page.locator('h1').waitFor()
    await page.locator('.loading, .map.waiting').first().waitFor({ state: 'detached' })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      let found: readonly string[] = []
      // Charts take their width when the page says that it has changed.
      await until(async () => {
        found = await cramped(page)
        return found.length === 0
      }).catch(() => {})
      t.same(found, [], `${place} at ${width}`)
      t.equal(await page.getByRole('navigation').getByRole('link').last().isVisible(), true, 'no view is hidden')
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        t.same(await axeFinds(page), [], `${place} at ${width}, ${colorScheme}`)
      }
    }
  }
  t.same(complaints, [])
})
