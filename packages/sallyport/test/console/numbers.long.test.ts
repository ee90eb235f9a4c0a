import t from 'tap'
import { NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { countAlsoBefore } from './past.ts'
import { openScene, VISITOR } from './scene.ts'
import { awaitToday } from './today.ts'

t.test('the first view begins with the numbers of a day, against the day before', { skip: NO_BROWSER }, async (t) => {
  // Counts of a day are in the folder, and the folder of all scenes has counts of other tests of this process.
  const scene = await openScene({}, { dataDir: t.testdir() })
  const browser = await openBrowser(t, scene)
  t.match(await awaitToday(scene, () => true), { isKept: true, now: null, before: null })
  const { page, complaints } = await openPage(t, browser, scene.adminUrl)
  await page.goto(scene.adminUrl)
  const numbers = page.getByRole('region', { name: 'Last 24 hours' })
  await numbers.getByText('There were no requests in the last 24 hours.').waitFor()

  for (let index = 0; index < 6; index++) t.equal(await scene.visit(VISITOR.home, { path: `/articles/${index}` }), 404)
  t.equal(await scene.visit('81.2.69.142'), 200)
  t.equal(await scene.visit(VISITOR.hosting, { path: '/login' }), 200)
  for (let index = 0; index < 2; index++) t.equal(await scene.visit(VISITOR.tor), 403)
  await awaitToday(scene, (now) => now?.requests === 10)
  // The day before has the same, twice as often.
  countAlsoBefore(scene.sallyport.config.dataDir, [24], () => 2)
  const today = await awaitToday(scene, (_, before) => before !== null)
  t.match(today, {
    // Browsers on servers and at Tor exits are no people that the count can tell.
    now: { requests: 10, visitors: 2, stopped: 0.2, hitPeople: 0, hit: 0, wouldHit: 0 },
    before: { requests: 20, visitors: 2, stopped: 0.2, hitPeople: 0 },
  })

  await page.reload()
  await numbers.getByText('the day before').first().waitFor()
  const tile = async (name: string) => (await numbers.getByRole('link', { name }).innerText()).split('\n')
  // The last hour is not over: -50% at its end, -48% at its start.
  t.match(await tile('Requests'), ['Requests', '10', /^-(48|49|50)% against the day before$/])
  t.same(await tile('Stopped'), ['Stopped', '20.0%', '20.0% the day before'])
  t.same(await tile('People affected'), ['People affected', '0', '0% of about 2; 0 the day before'])
  t.same(await tile('With everything enforced'), [
    'With everything enforced',
    '0%',
    'the same: monitor mode and dry runs would affect no more people',
  ])
  const first = await page.locator('main > :not(h1)').first().getAttribute('aria-label')
  t.equal(first, 'Last 24 hours', 'before every graph')

  await page.goto(`${scene.adminUrl}/#/report`)
  await page.getByRole('row', { name: 'no-tor' }).waitFor()
  await page.goto(`${scene.adminUrl}/#/policy`)
  await page
    .getByRole('row', { name: 'no-tor' })
    .getByText(/\d blocked/)
    .waitFor()
  t.same(complaints, [])
})
