import t from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { FINDS, listen, openReader } from './reader.ts'
import { NO_OPENSSL, openSite } from './site.ts'

/* The page that a refused visitor sees, in a real browser: both colour schemes, a telephone, the keyboard, either direction. */

/** Text that is wider than the window, or outside of it. */
const WIDE = 'document.documentElement.scrollWidth > innerWidth'
const SEEN = `(() => {
  const { lang, dir } = document.documentElement
  const [heading, code] = ['h1', 'code'].map((name) => document.querySelector(name))
  return [lang, dir, getComputedStyle(heading).direction, getComputedStyle(code).direction].join(' ')
})()`

const LANGUAGES = [
  ['en-GB', 'en ltr ltr ltr', 'Access denied'],
  ['ar-EG', 'ar rtl rtl ltr', 'تم رفض الوصول'],
  ['ja-JP', 'ja ltr ltr ltr', 'アクセスが拒否されました'],
  ['zh-TW', 'zh-Hant ltr ltr ltr', '存取遭拒'],
  ['de-AT', 'de ltr ltr ltr', 'Zugriff verweigert'],
] as const

t.test('the page', { skip: NO_CHROMIUM || NO_OPENSSL }, async (t) => {
  const { url } = await openSite(t)
  const newContext = await openReader(t)
  const papers = new Set<unknown>()
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 320]) {
      for (const [locale, seen, title] of LANGUAGES) {
        const context = await newContext({ colorScheme, locale, viewport: { width, height: 700 } })
        const page = await context.newPage()
        const complaints = listen(page)
        await page.goto(`${url}/blocked`)
        const name = `${locale}, ${colorScheme}, ${width}`
        t.same([await page.title(), await page.evaluate(SEEN)], [title, seen], name)
        t.notOk(await page.evaluate(WIDE), name)
        await page.keyboard.press('Tab')
        const focused = await page.evaluate('document.activeElement.getAttribute("href").split("?")[0]')
        t.equal(focused, 'mailto:help@site.example')
        papers.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
        t.same(await page.evaluate(FINDS), [], name)
        t.same(complaints, [], name)
        await context.close()
      }
    }
  }
  t.equal(papers.size, 2, 'a dark page is another')
})
