import t from 'tap'
import { signInLink } from '../../src/console/index.ts'
import { axeFinds, NO_BROWSER, openPage, openView } from './browser.ts'
import { ADMIN, openScene, READER } from './scene.ts'

t.test('a token opens the console, and a session ends', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const { page, complaints, outside, go } = await openView(t, scene, { isSignedIn: false })
  await go('health')
  await page.getByLabel('Token').fill('not-the-right-token')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This token is not valid.').waitFor()
  t.same(await axeFinds(page), [])
  await page.getByLabel('Token').fill(ADMIN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  await page.getByText('Administrator').waitFor()
  await page.getByText('dataDir').first().waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  t.same([complaints, outside], [[], []])
})

t.test('a link opens the console once, and is kept nowhere', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const link = signInLink({ admin: ADMIN, read: READER }, scene.adminUrl)
  const { page, complaints, browser } = await openView(t, scene, { isSignedIn: false })
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(link)
  await page.getByRole('heading', { name: 'Live' }).waitFor()
  await page.getByText('Read only').waitFor()
  t.equal(page.url(), `${scene.adminUrl}/#/`)
  t.notOk(asked.join().includes('sign-in'), 'what is behind the # is sent nowhere')
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByText('Read only').waitFor()
  t.pass('who is signed in stays so')

  const other = await openPage(t, browser, scene.adminUrl, { isSignedIn: false })
  await other.page.goto(link)
  await other.page.getByText('This link was used or has expired').waitFor()
  t.same(await axeFinds(other.page), [])
  await other.page.evaluate(`location.href = ${JSON.stringify(signInLink({ admin: ADMIN, read: READER }, ''))}`)
  await other.page.getByText('Read only').waitFor()
  t.pass('a link that is put into the page that is open')
  t.same(complaints, [])
})
