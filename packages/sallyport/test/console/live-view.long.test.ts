import t from 'tap'
import { axeFinds, NO_BROWSER, openView } from './browser.ts'
import { countAlsoBefore } from './past.ts'
import { openScene, until, VISITOR, WITHOUT_DATA } from './scene.ts'

/** A name that Google sends with no request. */
const IMPOSTOR = 'Google-Extended/1.0'

t.test('the live view shows who came, and why it was decided so', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  for (const path of ['/', '/articles/gates', '/login'])
    for (const address of [VISITOR.home, VISITOR.hosting]) t.equal(await scene.visit(address, { path }), 200)
  t.equal(await scene.visit(VISITOR.tor), 403)
  t.equal(await scene.visit(VISITOR.home, { userAgent: IMPOSTOR }), 403)

  const { page, complaints, outside } = await openView(t, scene)
  let bytes = 0
  page.on('requestfinished', async (request) => {
    bytes += (await request.sizes()).responseBodySize
  })
  await page.goto(scene.adminUrl)
  await page.locator('.stream .row').first().waitFor()
  await page.locator('.map path').first().waitFor()
  // Counts are written every five seconds.
  await page.getByText('AS24940').first().waitFor()
  const titles = await page.locator('.map path title').allTextContents()
  const [germany, states] = ['Germany: ', 'United States: '].map((name) =>
    titles.some((title) => title.startsWith(name)),
  )
  t.same([germany, states], [true, true], 'on the map')
  await until(() => bytes > 40_000)
  t.ok(bytes <= 250_000, `${bytes} bytes`)

  const shown = await page.locator('main').innerText()
  const outcomes = ['allowed', 'blocked', 'impostors', 'no-tor', 'no-hosting-login']
  for (const text of [...outcomes, 'Tor', 'AS24940', 'Germany', 'United States', 'Google', '/articles/gates'])
    t.match(shown, text)

  await page.locator('.stream .row', { hasText: VISITOR.tor }).click()
  const dialog = page.getByRole('dialog')
  const rule = 'The policy\'s rule "no-tor" matches.'
  for (const text of [rule, 'AS60729', 'the client header of a trusted proxy', '403 by refusal'])
    await dialog.getByText(text).first().waitFor()
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

  await page.goto(`${scene.adminUrl}/${link}`)
  await page.getByText(rule).waitFor()
  t.same([complaints, outside], [[], []])
})

t.test('the live view shows what came of questions, by rule', { skip: NO_BROWSER }, async (t) => {
  const rules = [
    { id: 'ask-readers', match: { path: ['/articles/*'] }, action: 'challenge', challenge: { level: 2 } } as const,
    { id: 'ask-shop', match: { path: ['/shop'] }, action: 'challenge' } as const,
    { id: 'ask-all', match: { path: ['/login'] }, action: 'challenge' } as const,
  ]
  const scene = await openScene({}, { ...WITHOUT_DATA, dataDir: t.testdir(), policy: { preset: 'observe', rules } })
  const { page, complaints, browser, go } = await openView(t, scene)
  // A person solves it, two leave.
  const visitor = await browser.newContext({ extraHTTPHeaders: { 'x-forwarded-for': VISITOR.home } })
  await (await visitor.newPage()).goto(`${scene.url}/articles/gates`)
  await until(async () => (await visitor.cookies()).some(({ name }) => name === 'sallyport'))
  for (const address of ['8.9.1.1', '8.9.1.2']) t.equal(await scene.visit(address, { path: '/articles/gates' }), 403)
  t.equal(await scene.visit('8.9.1.3', { path: '/login' }), 403)
  // A program is shown nothing, so its challenge is a refusal.
  const program = await fetch(`${scene.url}/shop`, { headers: { 'x-forwarded-for': '8.9.1.4', accept: '*/*' } })
  t.equal(program.status, 403)
  await scene.awaitToday((now) => (now?.requests ?? 0) >= 6)

  await go('')
  const funnel = page.getByRole('region', { name: 'Challenges: table' })
  await funnel.getByRole('row').nth(3).waitFor()
  const rows = await funnel.getByRole('row').allInnerTexts()
  const [head, ...counted] = rows.map((row) => row.trim().replaceAll(/\s+/g, ' '))
  t.equal(head, 'Rule Level Challenged Solved Failed attempts Not shown')
  t.same(counted, ['ask-readers 2 3 1 0 0', 'ask-all 1 1 0 0 0', 'ask-shop 1 0 0 0 1'])

  const solved = page.locator('.stream .row', { hasText: VISITOR.home })
  await until(async () => (await solved.count()) >= 2)
  let texts = ''
  for (let row = 0; row < (await solved.count()); row++) {
    await solved.nth(row).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('pass', { exact: true }).waitFor()
    texts += await dialog.innerText()
    await page.keyboard.press('Escape')
  }
  t.match(texts, /solved, level 2, after [\d.]+ s/)
  t.same(complaints, [])
})

t.test('the first view begins with the numbers of a day, against the day before', { skip: NO_BROWSER }, async (t) => {
  // Counts of a day are in the folder, and the folder of all scenes has counts of other tests of this process.
  const scene = await openScene({}, { dataDir: t.testdir() })
  t.match(await scene.awaitToday(() => true), { isKept: true, now: null, before: null })
  const { page, complaints, go } = await openView(t, scene)
  await go('')
  const numbers = page.getByRole('region', { name: 'Last 24 hours' })
  await numbers.getByText('There were no requests in the last 24 hours.').waitFor()

  for (let index = 0; index < 6; index++) t.equal(await scene.visit(VISITOR.home, { path: `/articles/${index}` }), 404)
  t.equal(await scene.visit('81.2.69.142'), 200)
  t.equal(await scene.visit(VISITOR.hosting, { path: '/login' }), 200)
  for (let index = 0; index < 2; index++) t.equal(await scene.visit(VISITOR.tor), 403)
  await scene.awaitToday((now) => now?.requests === 10)
  // The day before has the same, twice as often.
  countAlsoBefore(scene.sallyport.config.dataDir, [24], () => 2)
  t.match(await scene.awaitToday((_, before) => before !== null), {
    // Browsers on servers and at Tor exits are no people that the count can tell.
    now: { requests: 10, visitors: 2, stopped: 0.2, hitPeople: 0, hit: 0, wouldHit: 0 },
    before: { requests: 20, visitors: 2, stopped: 0.2, hitPeople: 0 },
  })

  await page.reload()
  await numbers.getByText('the day before').first().waitFor()
  const tile = async (name: string) => (await numbers.getByRole('link', { name }).innerText()).split('\n').slice(1)
  // The last hour is not over: -50% at its end, -48% at its start.
  t.match(await tile('Requests'), ['10', /^-(48|49|50)% against the day before$/])
  t.same(await tile('Stopped'), ['20.0%', '20.0% the day before'])
  t.same(await tile('People affected'), ['0', '0% of about 2; 0 the day before'])
  const same = 'the same: monitor mode and dry runs would affect no more people'
  t.same(await tile('With everything enforced'), ['0%', same])
  const first = await page.locator('main > :not(h1)').first().getAttribute('aria-label')
  t.equal(first, 'Last 24 hours', 'before every graph')

  await go('report')
  await page.getByRole('row', { name: 'no-tor' }).waitFor()
  await go('policy')
  const row = page.getByRole('row', { name: 'no-tor' })
  await row.getByText(/\d blocked/).waitFor()
  t.same(complaints, [])
})
