import t from 'tap'
import { DEMO_VISITORS } from '../../src/cli/demo/visitors.ts'
import { LOOPBACK, makeFolder, start } from '../cli/command.ts'
import { axeFinds, NO_BROWSER, openBrowser, openPage, PHONE, readWidth } from './browser.ts'

t.test('the page of every visitor, for everybody', { skip: NO_BROWSER }, async (t) => {
  const demo = start(t, ['demo', ...LOOPBACK, '--data-dir', makeFolder(t)])
  await demo.says('with the token in')
  const url = /Listening on (\S+),/.exec(demo.err())?.[1] ?? ''
  const { page, complaints } = await openPage(t, await openBrowser(t), url, { isSignedIn: false })
  for (const id of ['', ...DEMO_VISITORS.map(({ id }) => id)]) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${url}/${id === '' ? '' : `?as=${id}`}`)
    t.same(await axeFinds(page), [], `${id} in the light`)
    await page.setViewportSize(PHONE)
    await page.emulateMedia({ colorScheme: 'dark' })
    t.same(await axeFinds(page), [], `${id} in the dark, on a phone`)
    t.equal(await readWidth(page), PHONE.width, `${id} is not wider than a phone`)
    if (id !== '') t.equal(await page.locator('footer').count(), 0, `${id} has one verdict`)
  }
  // The answer of a visitor is shown in a frame in which nothing runs, as the browser says of each.
  const others = complaints.filter((complaint) => !complaint.startsWith('about:srcdoc'))
  t.same(others, [])
})
