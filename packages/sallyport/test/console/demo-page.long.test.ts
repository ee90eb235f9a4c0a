import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DEMO_VISITORS } from '../../src/cli/demo/visitors.ts'
import { start } from '../cli/command.ts'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'

t.test('the page of every visitor, for everybody', { skip: NO_BROWSER }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-demo-page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const place = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--data-dir', folder]
  const demo = start(t, ['demo', ...place])
  await demo.says('with the token in')
  const url = /Listening on (\S+),/.exec(demo.err())?.[1] ?? ''
  const browser = await openBrowser(t)
  const { page, complaints } = await openPage(t, browser, url, {
    isSignedIn: false,
    viewport: { width: 1440, height: 900 },
  })
  for (const id of ['', ...DEMO_VISITORS.map(({ id }) => id)]) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${url}/${id === '' ? '' : `?as=${id}`}`)
    t.same(await axeFinds(page), [], `${id} in the light`)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    t.same(await axeFinds(page), [], `${id} in the dark, on a phone`)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, `${id} is not wider than a phone`)
    if (id !== '') t.equal(await page.locator('footer').count(), 0, `${id} has one verdict`)
  }
  // The answer of a visitor is shown in a frame in which nothing runs, as the browser says of each.
  t.same(
    complaints.filter((complaint) => !complaint.startsWith('about:srcdoc')),
    [],
  )
})
