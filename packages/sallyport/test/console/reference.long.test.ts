import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { openScene, WITHOUT_DATA } from './scene.ts'

const BUILT = join(import.meta.dirname, '../../../../engine/dist/reference.html.gz')

t.test(
  'the reference of the API tries an operation',
  { skip: NO_BROWSER || (!existsSync(BUILT) && 'the reference is not built: npm run build') },
  async (t) => {
    const scene = await openScene({}, WITHOUT_DATA)
    const browser = await openBrowser(t, scene)
    for (const [width, colorScheme] of [
      [390, 'light'],
      [1440, 'dark'],
    ] as const) {
      const options = { isSignedIn: false, colorScheme, viewport: { width, height: 900 } }
      const { page, complaints, outside } = await openPage(t, browser, scene.url, options)
      page.setDefaultTimeout(60_000)
      await page.goto(`${scene.url}/v1/docs`)
      const open = (name: RegExp) => page.getByRole('button', { name }).first().click()
      await open(/GET \/v1\/myip/)
      await open(/Execute/)
      await page.getByText('"ipv4": "127.0.0.1"').first().waitFor()
      await open(/POST \/v1\/crawlers\/verify/)
      await page.getByRole('textbox').last().waitFor()
      const faint = (await axeFinds(page)).filter((found) => found.startsWith('color-contrast'))
      t.same(faint, [], `${width}: every text has contrast`)
      t.same(complaints, [], `${width}: the policy of the page is kept`)
      const others = outside.filter((url) => !url.startsWith('data:'))
      t.same(others, [], `${width}: nothing from outside`)
    }
  },
)
