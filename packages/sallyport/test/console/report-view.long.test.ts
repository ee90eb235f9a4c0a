import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { ADMIN, AS_READER, openScene, VISITOR, WITHOUT_DATA } from './scene.ts'
import { awaitToday } from './today.ts'

const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)'

t.test('the curve of 24 hours and the challenges survive a restart', async (t) => {
  const rules = [{ id: 'ask', match: { path: ['/login'] }, action: 'challenge' } as const]
  const config = { ...WITHOUT_DATA, dataDir: t.testdir(), policy: { rules } }
  const before = await openScene({}, config)
  t.teardown(before.close)
  for (let visit = 0; visit < 5; visit++) await before.visit(VISITOR.home)
  t.equal(await before.visit(VISITOR.home, { path: '/login' }), 403)
  await awaitToday(before, (now) => now?.requests === 6)
  await before.close()
  const begun = Date.now()
  const scene = await openScene({}, config)
  t.teardown(scene.close)
  const read = async (span: string) => {
    const answer = await fetch(`${scene.adminUrl}/console/api/live?span=${span}`, { headers: AS_READER })
    return (await answer.json()) as { readonly curves: { readonly allow: readonly number[] }; readonly since: number }
  }
  const day = await read('24h')
  const challenges = { table: { rows: [['ask', '1', '1', '0', '0', '0']] } }
  t.match(day, { step: 3_600_000, totals: { allow: 5, challenge: 1 }, counted: { challenges }, since: null })
  t.equal(day.curves.allow.length, 24)
  const minutes = await read('5m')
  t.match(minutes, { totals: { allow: 0 }, counted: { challenges } })
  t.ok(minutes.since >= begun, 'only what came since the restart')
})

t.test(
  'a report prints with the name of the site and its chart, and without the frame',
  { skip: NO_BROWSER },
  async (t) => {
    const scene = await openScene({ url: () => 'http://shop.example' }, { ...WITHOUT_DATA, dataDir: t.testdir() })
    const browser = await openBrowser(t, scene)
    await scene.visit(VISITOR.home)
    await awaitToday(scene, (now) => now?.requests === 1)
    const { page, complaints } = await openPage(t, browser, scene.adminUrl)
    await page.goto(`${scene.adminUrl}/#/report`)
    await page.getByRole('img', { name: 'Requests an hour by result: 1 in total, 1 allowed' }).waitFor()
    for (const name of ['allowed', 'people'])
      t.equal(await page.getByRole('cell', { name, exact: true }).count(), 1, `the word ${name}`)
    t.notOk(await page.getByText('shop.example, 7 days until').isVisible())
    await page.emulateMedia({ media: 'print' })
    t.ok(await page.getByText('shop.example, 7 days until').isVisible())
    t.ok(await page.locator('.chart canvas').isVisible())
    for (const frame of ['nav', '.choices', '.who']) t.notOk(await page.locator(frame).isVisible(), frame)
    t.equal(await page.evaluate("document.querySelector('main').getBoundingClientRect().left"), 0)
    const colours = await page.evaluate("getComputedStyle(document.querySelector('.dot')).printColorAdjust")
    t.equal(colours, 'exact', 'the legend has its colours')
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    t.equal(
      await page.evaluate("document.querySelector('.chart canvas').getBoundingClientRect().width"),
      680,
      'as paper',
    )
    const paper = (await page.pdf({ width: '210mm', height: '1000mm' })).toString('latin1')
    t.equal(paper.match(/\/Type\s*\/Page\b/g)?.length, 1, 'no card begins on a page of its own')
    t.same(complaints, [])
  },
)

t.test('an operator is blocked where its pages are listed', { skip: NO_BROWSER }, async (t) => {
  const saved: string[] = []
  const scene = await openScene(
    { savePolicy: async (written) => void saved.push(await written('listen: 127.0.0.1:8080\n')) },
    { ...WITHOUT_DATA, dataDir: t.testdir() },
  )
  const browser = await openBrowser(t, scene)
  await scene.visit(VISITOR.home, { userAgent: GPTBOT })
  await awaitToday(scene, (now) => now?.requests === 1)
  const { page, complaints } = await openPage(t, browser, scene.adminUrl)
  await page.goto(`${scene.adminUrl}/#/crawlers`)
  const card = page.getByRole('region', { name: 'Claims to be OpenAI', exact: true })
  await card.waitFor()
  t.equal(await card.getByRole('button').count(), 0, 'a reader changes nothing')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Token').fill(ADMIN)
  await page.locator('form').getByRole('button', { name: 'Sign in' }).click()
  await card.getByRole('button', { name: 'Block' }).click()
  t.same(await axeFinds(page), [])
  await card.getByRole('button', { name: 'Yes' }).click()
  while (saved.length === 0) await page.waitForTimeout(50)
  t.match(saved, [/id: block-openai/])
  t.same(complaints, [])
})
