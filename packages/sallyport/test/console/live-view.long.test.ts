import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { NAUGHTY, openScene, until, VISITOR, WITHOUT_DATA } from './scene.ts'

/** A name that Google sends with no request. */
const IMPOSTOR = 'Google-Extended/1.0'

t.test('the live view shows who came, and why it was decided so', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  for (const path of ['/', '/articles/gates', '/login']) {
    t.equal(await scene.visit(VISITOR.home, { path }), 200)
    t.equal(await scene.visit(VISITOR.hosting, { path }), 200)
  }
  t.equal(await scene.visit(VISITOR.tor), 403)
  t.equal(await scene.visit(VISITOR.home, { userAgent: IMPOSTOR }), 403)
  for (const userAgent of NAUGHTY) await scene.visit(VISITOR.home, { userAgent })
  for (const path of NAUGHTY) await scene.visit(VISITOR.home, { path: `/articles/${encodeURIComponent(path)}` })

  const { page, complaints, outside } = await openPage(t, browser, scene.adminUrl)
  let bytes = 0
  page.on('requestfinished', async (request) => {
    bytes += (await request.sizes()).responseBodySize
  })
  const begun = performance.now()
  await page.goto(scene.adminUrl)
  await page.locator('.stream .row').first().waitFor()
  const took = performance.now() - begun
  await page.locator('.map path').first().waitFor()
  // Counts are written every five seconds.
  await page.getByText('AS24940').first().waitFor()
  const titles = await page.locator('.map path title').allTextContents()
  for (const name of ['Germany', 'United States'])
    t.ok(
      titles.some((title) => title.startsWith(`${name}: `)),
      `${name}, on the map`,
    )
  await until(() => bytes > 40_000)
  t.ok(bytes <= 250_000, `${bytes} bytes`)
  t.comment(`first view: ${bytes} bytes, ${Math.round(took)} ms`)

  const shown = await page.locator('main').innerText()
  for (const text of [
    'allowed',
    'blocked',
    'impostors',
    'Tor',
    'AS24940',
    'Germany',
    'United States',
    'no-tor',
    'Google',
    '/articles/gates',
  ]) {
    t.match(shown, text)
  }
  for (const text of NAUGHTY.slice(0, 6)) t.ok(shown.includes(text.trim()), `shown as text: ${text}`)
  t.match(shown, 'no-hosting-login', 'a rule on trial')

  await page.locator('.stream .row', { hasText: VISITOR.tor }).click()
  const dialog = page.getByRole('dialog')
  for (const text of [
    'The policy\'s rule "no-tor" matches.',
    'AS60729',
    'the client header of a trusted proxy',
    '403 by refusal',
  ]) {
    await dialog.getByText(text).first().waitFor()
  }
  t.same(await axeFinds(page), [])
  const link = await dialog.getByRole('link', { name: 'Link to it' }).getAttribute('href')
  await page.keyboard.press('Escape')
  t.equal(await dialog.count(), 0, 'the dialog closes by the keyboard')

  await page.getByLabel('outcome').selectOption('block')
  await until(async () => (await page.locator('.stream .row').count()) === 2)
  await scene.visit(VISITOR.tor, { path: '/new' })
  await page.locator('.stream .row', { hasText: '/new' }).waitFor()
  const partial = page.getByText(/Counted since the start, .* ago\./)
  await partial.waitFor()
  await page.getByRole('button', { name: '24 hours' }).click()
  await page.getByText('last 24 hours').first().waitFor()
  await partial.waitFor({ state: 'detached' })
  t.same(await axeFinds(page), [])

  await page.goto(`${scene.adminUrl}/${link}`)
  await page.getByText('The policy\'s rule "no-tor" matches.').waitFor()
  t.same(await axeFinds(page), [])
  t.same(complaints, [])
  t.same(outside, [])
})

t.test('on a phone, in the dark, it fits', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene({}, { ...WITHOUT_DATA, dataDir: t.testdir() })
  const browser = await openBrowser(t, scene)
  const options = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', reducedMotion: 'reduce' } as const
  const { page, complaints } = await openPage(t, browser, scene.adminUrl, options)
  await page.goto(scene.adminUrl)
  await page.getByText('There are no matching requests yet.').waitFor()
  await page.getByText('There are no hourly counts yet.').first().waitFor()
  t.same(await axeFinds(page), [])
  await scene.visit(VISITOR.hosting, { userAgent: 'x'.repeat(300), path: `/${'y'.repeat(300)}` })
  await page.locator('.stream .row').waitFor()
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing scrolls sideways')
  t.same(await axeFinds(page), [])
  t.same(complaints, [])
})
