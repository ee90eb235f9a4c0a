import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { openScene, until, VISITOR, WITHOUT_DATA } from './scene.ts'
import { awaitToday } from './today.ts'

const PHONE = { width: 390, height: 844 }

t.test('the live view shows what came of questions, by rule', { skip: NO_BROWSER }, async (t) => {
  const rules = [
    { id: 'ask-readers', match: { path: ['/articles/*'] }, action: 'challenge', challenge: { level: 2 } } as const,
    { id: 'ask-shop', match: { path: ['/shop'] }, action: 'challenge' } as const,
    { id: 'ask-all', match: { path: ['/login'] }, action: 'challenge' } as const,
  ]
  const scene = await openScene({}, { ...WITHOUT_DATA, dataDir: t.testdir(), policy: { preset: 'observe', rules } })
  const browser = await openBrowser(t, scene)
  // A person solves it, two leave.
  const visitor = await browser.newContext({ extraHTTPHeaders: { 'x-forwarded-for': VISITOR.home } })
  const visit = await visitor.newPage()
  await visit.goto(`${scene.url}/articles/gates`)
  await visit
    .locator('h1', { hasText: 'gates' })
    .or(visit.getByText('gate', { exact: false }))
    .first()
    .waitFor()
  await until(async () => (await visitor.cookies()).some(({ name }) => name === 'sallyport'))
  for (const address of ['8.9.1.1', '8.9.1.2']) t.equal(await scene.visit(address, { path: '/articles/gates' }), 403)
  t.equal(await scene.visit('8.9.1.3', { path: '/login' }), 403)
  // A program is shown nothing, so its challenge is a refusal.
  const program = await fetch(`${scene.url}/shop`, { headers: { 'x-forwarded-for': '8.9.1.4', accept: '*/*' } })
  t.equal(program.status, 403)
  // Counts are written every five seconds.
  await awaitToday(scene, (now) => (now?.requests ?? 0) >= 6)

  const { page, complaints } = await openPage(t, browser, scene.adminUrl)
  await page.goto(scene.adminUrl)
  const funnel = page.getByRole('region', { name: 'Challenges: table' })
  await funnel.getByRole('row').nth(3).waitFor()
  const rows = async () =>
    (await funnel.getByRole('row').allInnerTexts()).map((row) => row.split(/\s+/).filter((cell) => cell !== ''))
  t.same(await rows(), [
    ['Rule', 'Level', 'Challenged', 'Solved', 'Failed', 'attempts', 'Not', 'shown'],
    ['ask-readers', '2', '3', '1', '0', '0'],
    ['ask-all', '1', '1', '0', '0', '0'],
    ['ask-shop', '1', '0', '0', '0', '1'],
  ])
  t.same(await axeFinds(page), [], 'in the light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize(PHONE)
  t.same(await axeFinds(page), [], 'in the dark, on a phone')
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than a phone')

  await page.setViewportSize({ width: 1280, height: 860 })
  const solved = page.locator('.stream .row', { hasText: VISITOR.home })
  await until(async () => (await solved.count()) >= 2)
  for (let row = 0; row < (await solved.count()); row++) {
    await solved.nth(row).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('pass', { exact: true }).waitFor()
    const text = await dialog.innerText()
    await page.keyboard.press('Escape')
    if (!/solved, level 2, after [\d.]+ s/.test(text)) continue
    t.same(complaints, [])
    return
  }
  t.fail('no request says that it solved')
})
