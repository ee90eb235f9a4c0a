import t from 'tap'
import { axeFinds, NO_BROWSER, openView, PHONE, readWidth } from './browser.ts'
import { FIRST_ASN, hostileAddress, NAUGHTY_NAME, openHostileScene } from './hostile.ts'
import { NAUGHTY, openScene, until, VISITOR } from './scene.ts'
import { viewIds } from './views.ts'

/** Questions for views that show little without one; every other view is asked nothing. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  inspect: ['', `?target=${hostileAddress(1)}`, `?target=${NAUGHTY_NAME}`, `?target=${encodeURIComponent(NAUGHTY[1])}`],
  lists: ['?name=strangers', '?name=strangers&q=alert'],
  directory: ['', `?asn=${FIRST_ASN}`, '?q=alert'],
}
/** Views whose content is written by the operator and by Sallyport alone. */
const OF_NO_STRANGER = ['policy', 'data', 'risk', 'audit', 'health']

/** Finds foreign parts of a page: elements, attributes and links of strangers. */
const FOREIGN = `[...document.querySelectorAll('*')].filter((one) =>
  (one.localName === 'script' && !one.src.startsWith(location.origin + '/assets/')) ||
  (one.localName === 'img' && !one.src.startsWith(location.origin + '/assets/')) ||
  one.localName === 'iframe' || /^\\s*javascript:/i.test(one.getAttribute('href') ?? '') ||
  one.getAttributeNames().some((name) => name.startsWith('on'))).map((one) => one.outerHTML)`

t.test('hostile text is text in every view, light, dark and on a phone', { skip: NO_BROWSER }, async (t) => {
  const scene = await openHostileScene(t)
  const { page, complaints, outside, settle } = await openView(t, scene)
  // The report has what was written of the counts.
  await scene.awaitToday((now) => now !== null)
  const listed = await scene.ask('requests?limit=1&text=alert')
  const questions = { ...QUESTIONS, request: [`?id=${listed.body.requests[0]?.id}`] }
  const ids = await viewIds()
  t.ok(ids.length >= 11, ids.join())
  for (const id of ids) {
    let shown = ''
    for (const question of questions[id as keyof typeof questions] ?? ['']) {
      const place = `${id}${question}`
      await page.setViewportSize({ width: 1280, height: 860 })
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' })
      await settle(place)
      if (id === 'ledger') await page.getByRole('button', { name: 'Open', exact: true }).click()
      if (id === 'live') await page.locator('.stream .row').first().waitFor()
      if (id === 'ledger') await page.getByText('Chained records').waitFor()
      shown += await page.locator('main').innerText()
      t.same(await axeFinds(page), [], `${place} in the light`)
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      await page.setViewportSize(PHONE)
      t.same(await axeFinds(page), [], `${place} in the dark, on a phone`)
      t.equal(await readWidth(page), PHONE.width, `${place} fits on a phone`)
      t.equal(await page.evaluate('document.getAnimations().length'), 0, `${place} stands still where it is asked to`)
      t.same(await page.evaluate(FOREIGN), [], `${place} holds nothing of a stranger`)
    }
    const found = NAUGHTY.filter((text) => shown.includes(text))
    t.equal(found.length > 0, !OF_NO_STRANGER.includes(id), `${id} shows as text: ${found.length} of ${NAUGHTY.length}`)
  }
  t.same([complaints, outside], [[], []])
})

t.test('every view says that it loads, that it failed, and goes on', { skip: NO_BROWSER }, async (t) => {
  const questions: Readonly<Record<string, string>> = { inspect: `?target=${VISITOR.tor}`, request: '?id=nobody' }
  const { page, complaints, go } = await openView(t, await openScene())
  let answers: 'never' | 'badly' | 'well' = 'well'
  await page.route('**/console/api/**', async (route) => {
    if (route.request().url().endsWith('/session') || answers === 'well') return route.continue()
    if (answers === 'badly')
      return route.fulfill({ status: 503, json: { error: 'service_unavailable', message: 'Later.' } })
  })
  for (const id of await viewIds()) {
    const show = async (how: typeof answers, role: 'status' | 'alert') => {
      answers = how
      await page.goto('about:blank')
      await go(`${id}${questions[id] ?? ''}`)
      return page.getByRole(role).first().innerText()
    }
    t.match(await show('never', 'status'), /Loading…|connecting…/, `${id} loads`)
    t.match(await show('badly', 'alert'), /Later\.\s+service_unavailable/, `${id} failed`)
    t.same(await axeFinds(page), [], `${id} after a failure`)
    answers = 'well'
    await until(async () => {
      // A view may ask for several things, each of which failed.
      const again = page.locator('.failure', { hasText: 'Later.' }).getByRole('button', { name: 'Try again' }).first()
      // The repeated question of the view may be quicker than the click.
      if (await again.isVisible()) await again.click({ timeout: 500 }).catch(() => {})
      return (await page.getByText('Later.').count()) === 0
    })
    if (id === 'request') await page.getByText('no longer in memory').waitFor()
  }
  t.same(complaints, [])
})

t.test('every view is reached by the keyboard', { skip: NO_BROWSER }, async (t) => {
  const { page, settle } = await openView(t, await openScene())
  await settle('')
  const readFocused = () => page.evaluate('document.activeElement.textContent.trim() || document.activeElement.id')
  await page.keyboard.press('Tab')
  t.equal(await readFocused(), 'Skip to content')
  await page.keyboard.press('Enter')
  t.equal(await page.evaluate('document.activeElement.id'), 'main')
  const titles = await page.getByRole('navigation').getByRole('link').allInnerTexts()
  t.equal(titles.length, (await viewIds()).length - 1, 'all but the one that is reached by links')
  for (const title of titles) {
    await page.evaluate('document.querySelector(".skip").focus()')
    for (let steps = 0; steps < 20 && (await readFocused()) !== title; steps++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    // The title follows the heading within a frame.
    while ((await page.title()) !== `${title} · Sallyport`) await page.waitForTimeout(20)
    t.pass(title)
  }
})

t.test('a page older than its proxy goes on, and a refused stream is asked again', { skip: NO_BROWSER }, async (t) => {
  const { page, complaints, go } = await openView(t, await openScene())
  const asked: string[] = []
  page.on('request', (request) => void (request.url().includes('/stream') && asked.push(request.url())))
  await page.route('**/console/api/stream*', (route) => route.fulfill({ status: 503, body: '{}' }), { times: 1 })
  await go('')
  await page.getByText('Recent decisions').waitFor()
  await page.getByText('connecting…').waitFor({ state: 'detached' })
  t.equal(asked.length, 2)
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }))
  await page.getByRole('link', { name: 'Directory' }).click()
  await page.getByRole('alert').getByText('or was updated').waitFor()
  await page.unroute('**/assets/*.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table').waitFor()
  t.same(complaints, [])
})
