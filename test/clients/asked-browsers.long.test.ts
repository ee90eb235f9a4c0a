import t from 'tap'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { NO_OPENSSL, openSite } from './site.ts'

for (const scheme of ['http', 'https'] as const) {
  t.test(`Chromium is asked, over ${scheme}`, { skip: NO_CHROMIUM || NO_OPENSSL }, async (t) => {
    const site = await openSite(t)
    const base = scheme === 'http' ? site.url : site.secure
    const browser = await openChromium()
    t.teardown(() => browser.close())
    for (const level of [1, 2, 3]) {
      const context = await browser.newContext({
        userAgent: readersAgent(browser),
        locale: 'en-GB',
        ignoreHTTPSErrors: true,
      })
      const page = await context.newPage()
      const first = await page.goto(`${base}/asked/${level}?a=1#there`)
      t.equal(first?.status(), 403)
      await page.getByRole('heading', { name: 'Another page' }).waitFor()
      await context.close()
    }
  })
}
