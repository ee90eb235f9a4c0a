import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { openScene, WITHOUT_DATA } from './scene.ts'

const BUILT = join(import.meta.dirname, '../../../../engine/dist/reference.html.gz')

t.test(
  'the reference of the API tries an operation',
  { skip: NO_BROWSER || (!existsSync(BUILT) && 'the reference is not built: npm run build') },
  async (t) => {
    const scene = await openScene({}, WITHOUT_DATA)
    const browser = await openBrowser(t, scene)
    for (const width of [390, 1440]) {
      const viewport = { width, height: 900 }
      const { page, complaints, outside } = await openPage(t, browser, scene.url, { isSignedIn: false, viewport })
      page.setDefaultTimeout(60_000)
      await page.goto(`${scene.url}/v1/docs`)
      await page
        .getByRole('button', { name: /GET \/v1\/myip/ })
        .first()
        .click()
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.getByText('"ipv4": "127.0.0.1"').first().waitFor()
      t.same(complaints, [], `${width}: the policy of the page is kept`)
      t.same(
        outside.filter((url) => !url.startsWith('data:')),
        [],
        `${width}: nothing from outside`,
      )
    }
  },
)
