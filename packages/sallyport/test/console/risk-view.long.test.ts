import t from 'tap'
import { FIREFOX } from '../cli/command.ts'
import { axeFinds, NO_BROWSER, openView, PHONE, readWidth } from './browser.ts'
import { openScene, WITHOUT_DATA } from './scene.ts'

t.test('accounts at risk are shown by their hashes, with reasons', { skip: NO_BROWSER }, async (t) => {
  const trial = { id: 'no-payment', match: { event: ['payment' as const] }, action: 'block' as const, monitor: true }
  const policy = { preset: 'observe' as const, rules: [trial], limits: ['account-guard' as const] }
  const scene = await openScene({}, { ...WITHOUT_DATA, dataDir: t.testdir(), policy })
  const { accounts, decide } = scene.sallyport
  const assess = async (peer: string, event: Parameters<typeof accounts.assess>[1]) => {
    const fields = ['User-Agent', FIREFOX]
    const decision = decide({ peer, method: 'POST', target: '/login', scheme: 'http', httpVersion: '1.1', fields })
    await accounts.assess({ sallyport: decision, rawHeaders: fields }, event)
  }
  const { page, complaints, settle } = await openView(t, scene)
  await settle('risk')
  await page.getByText('No event failed or was blocked').waitFor()
  t.same(await axeFinds(page), [], 'the empty state')

  const login = { event: 'login', user: '17', identifier: 'ada@shop.example' } as const
  await assess('81.130.10.20', { ...login, outcome: 'success' })
  for (let at = 0; at < 12; at++) await assess(`${11 + at}.0.7.9`, { ...login, outcome: 'failure' })
  await assess('81.130.10.20', { event: 'payment', user: '18', outcome: 'success' })
  await assess('81.130.10.20', { event: 'signup', identifier: 'a.d.a+1@gmail.com', outcome: 'failure' })
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [PHONE.width, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await settle('risk')
    await page.getByText('12 failed, 2 challenged, from 12 addresses').waitFor()
    t.same(await axeFinds(page), [], `${width} ${colorScheme}`)
    t.equal(await readWidth(page), width, 'it fits')
  }
  const text = await page.locator('main').innerText()
  t.match(text, '1 would be blocked, from 1 address')
  t.match(text, 'Dry run: rule "no-payment" would block.')
  t.match(text, 'The user never logged in from this network.')
  t.match(text, 'The mail address is an alias of another one')
  t.notMatch(text, /ada|gmail|@/, 'no identifier is shown')
  t.same(complaints, [])
})
