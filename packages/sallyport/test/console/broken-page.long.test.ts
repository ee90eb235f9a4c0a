import t from 'tap'
import { NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { openScene } from './scene.ts'

t.test('a page that is older than its proxy', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)

  t.test('says of a view whose script is gone that it is, and offers the new page', async (t) => {
    const { page, complaints } = await openPage(t, browser, scene.adminUrl)
    await page.goto(scene.adminUrl)
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'Directory' }).click()
    await page.getByRole('alert').getByText('or was updated').waitFor()
    await page.unroute('**/assets/*.js')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('table').waitFor()
    t.same(complaints, [])
  })

  t.test('asks again for a stream that was refused', async (t) => {
    const { page } = await openPage(t, browser, scene.adminUrl)
    const asked: string[] = []
    page.on('request', (request) => void (request.url().includes('/stream') && asked.push(request.url())))
    await page.route('**/console/api/stream*', (route) => route.fulfill({ status: 503, body: '{}' }), { times: 1 })
    await page.goto(scene.adminUrl)
    await page.getByText('Recent decisions').waitFor()
    await page.getByText('connecting…').waitFor({ state: 'detached' })
    t.equal(asked.length, 2)
  })
})
