import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { ADMIN, openScene } from './scene.ts'

t.test('a token opens the console, and a session ends', { skip: NO_BROWSER ?? false }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser()
  t.teardown(async () => {
    await browser.close()
    await scene.close()
  })
  const { page, complaints, outside } = await openPage(t, browser, scene.adminUrl, { isSignedIn: false })
  await page.goto(`${scene.adminUrl}/#/health`)
  await page.getByLabel('Token').fill('not-the-right-token')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This token is not known.').waitFor()
  t.same(await axeFinds(page), [])
  await page.getByLabel('Token').fill(ADMIN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  await page.getByText('Administrator').waitFor()
  await page.getByText('dataDir').first().waitFor()
  t.same(await axeFinds(page), [])
  await page.getByLabel('Colours').selectOption('dark')
  t.same(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  t.same(complaints, [])
  t.same(outside, [])
})
