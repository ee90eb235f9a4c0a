import t from 'tap'
import { GPTBOT } from '../cli/command.ts'
import { axeFinds, NO_BROWSER, openView } from './browser.ts'
import { openScene, until, VISITOR, WITHOUT_DATA } from './scene.ts'

t.test('the curve of 24 hours and the challenges survive a restart', async (t) => {
  const rules = [{ id: 'ask', match: { path: ['/login'] }, action: 'challenge' } as const]
  const config = { ...WITHOUT_DATA, dataDir: t.testdir(), policy: { rules } }
  const before = await openScene({}, config)
  for (let visit = 0; visit < 5; visit++) await before.visit(VISITOR.home)
  t.equal(await before.visit(VISITOR.home, { path: '/login' }), 403)
  await before.awaitToday((now) => now?.requests === 6)
  await before.close()
  const begun = Date.now()
  const scene = await openScene({}, config)
  t.teardown(scene.close)
  const { body: day } = await scene.ask('live?span=24h')
  const challenges = { table: { rows: [['ask', '1', '1', '0', '0', '0']] } }
  t.match(day, { step: 3_600_000, totals: { allow: 5, challenge: 1 }, counted: { challenges }, since: null })
  t.equal(day.curves.allow.length, 24)
  const { body: minutes } = await scene.ask('live?span=5m')
  t.match(minutes, { totals: { allow: 0 }, counted: { challenges } })
  t.ok(minutes.since >= begun, 'only what came since the restart')
})

t.test('a report prints with the name of the site and its chart, unframed', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene({ url: () => 'http://shop.example' }, { ...WITHOUT_DATA, dataDir: t.testdir() })
  await scene.visit(VISITOR.home)
  await scene.awaitToday((now) => now?.requests === 1)
  const { page, complaints, go } = await openView(t, scene)
  await go('report')
  await page.getByRole('img', { name: 'Requests an hour by result: 1 in total, 1 allowed' }).waitFor()
  for (const name of ['allowed', 'people'])
    t.equal(await page.getByRole('cell', { name, exact: true }).count(), 1, `the word ${name}`)
  const title = page.getByText('shop.example, 7 days until')
  t.notOk(await title.isVisible())
  await page.emulateMedia({ media: 'print' })
  t.ok(await title.isVisible())
  t.ok(await page.locator('.chart canvas').isVisible())
  for (const frame of ['nav', '.choices', '.who']) t.notOk(await page.locator(frame).isVisible(), frame)
  t.equal(await page.evaluate("document.querySelector('main').getBoundingClientRect().left"), 0)
  const colours = await page.evaluate("getComputedStyle(document.querySelector('.dot')).printColorAdjust")
  t.equal(colours, 'exact', 'the legend has its colours')
  await page.evaluate("dispatchEvent(new Event('beforeprint'))")
  const width = await page.evaluate("document.querySelector('.chart canvas').getBoundingClientRect().width")
  t.equal(width, 680, 'as paper')
  const paper = (await page.pdf({ width: '210mm', height: '1000mm' })).toString('latin1')
  t.equal(paper.match(/\/Type\s*\/Page\b/g)?.length, 1, 'no card begins on a page of its own')
  t.same(complaints, [])
})

t.test('an operator is blocked where its pages are listed', { skip: NO_BROWSER }, async (t) => {
  const saved: string[] = []
  const scene = await openScene(
    { savePolicy: async (written) => void saved.push(await written('listen: 127.0.0.1:8080\n')) },
    { ...WITHOUT_DATA, dataDir: t.testdir() },
  )
  await scene.visit(VISITOR.home, { userAgent: GPTBOT })
  await scene.awaitToday((now) => now?.requests === 1)
  const { page, complaints, go, signIn } = await openView(t, scene)
  await go('crawlers')
  const card = page.getByRole('region', { name: 'Claims to be OpenAI', exact: true })
  await card.waitFor()
  t.equal(await card.getByRole('button').count(), 0, 'a reader changes nothing')
  await signIn()
  await card.getByRole('button', { name: 'Block' }).click()
  t.same(await axeFinds(page), [])
  await card.getByRole('button', { name: 'Yes' }).click()
  await until(() => saved.length > 0)
  t.match(saved, [/id: block-openai/])
  t.same(complaints, [])
})
