import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { ADMIN, NAUGHTY, openScene, READER, until } from './scene.ts'

t.test('an administrator steers, and a reader looks', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  const { page, complaints, outside } = await openPage(t, browser, scene.adminUrl)
  const { accounts, keyring, bans } = scene.sallyport
  for (const account of await accounts.listAccounts()) t.comment(account.id)
  await page.goto(`${scene.adminUrl}/#/accounts`)
  for (const name of NAUGHTY) await keyring.createAccount({ name })
  await page.reload()
  for (const name of NAUGHTY.slice(0, 6)) await page.getByRole('heading', { name, exact: true }).waitFor()
  t.equal(await page.getByRole('button', { name: 'New key' }).count(), 0, 'a reader makes no keys')
  t.same(await axeFinds(page), [])

  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Token').fill(ADMIN)
  await page.locator('form').getByRole('button', { name: 'Sign in' }).click()
  const name = `Shop ${Date.now()}`
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create' }).click()
  const card = page.getByRole('region', { name, exact: true })
  await card.getByRole('button', { name: 'New key' }).click()
  const key = await page.locator('code.secret').innerText()
  t.match(key, /^sp_\w+/)
  const used = await fetch(`${scene.url}/v1/user/limits`, { headers: { authorization: `Bearer ${key}` } })
  t.equal(used.status, 200, 'the key works')
  await card.getByLabel('Plan').selectOption('pro')
  await card.getByText('of 500,000').waitFor()
  t.same(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Dismiss' }).click()
  t.notMatch(await page.content(), key, 'shown once')
  await card.getByRole('button', { name: 'Revoke' }).click()
  await card.getByRole('button', { name: 'Yes' }).click()
  await card.getByText('revoked').waitFor()
  const refused = await fetch(`${scene.url}/v1/user/limits`, { headers: { authorization: `Bearer ${key}` } })
  t.equal(refused.status, 401)

  await page.goto(`${scene.adminUrl}/#/bans`)
  await page.getByText('There are no active bans').waitFor()
  const now = Date.now()
  for (const [index, on] of NAUGHTY.entries()) {
    await bans.put({
      id: `ban${index}`,
      key: `address 203.0.113.${index}`,
      on,
      count: 3,
      since: now,
      until: now + 600_000,
    })
  }
  await page.getByText(NAUGHTY[1]).waitFor()
  t.same(await axeFinds(page), [])
  for (const index of NAUGHTY.keys()) await page.getByRole('button', { name: `Lift the ban ban${index}` }).click()
  await page.getByText('There are no active bans').waitFor()
  t.same(await bans.list(), [])

  await page.goto(`${scene.adminUrl}/#/data`)
  await page.getByText('CC-BY-4.0').first().waitFor()
  t.match(await page.locator('main').innerText(), /operators[\s\S]*loaded/)
  t.same(await axeFinds(page), [])
  await until(async () => (await page.getByRole('button', { name: 'Update all now' }).count()) === 1)
  t.same(complaints, [])
  t.same(outside, [])
})

t.test('a change needs the role for it, and names its faults', async (t) => {
  const scene = await openScene()
  t.teardown(scene.close)
  const ask = async (path: string, body: unknown, token = READER) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const { status } = await fetch(`${scene.adminUrl}/console/api/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return status
  }
  const paths = [
    'accounts',
    'accounts/plan',
    'keys',
    'keys/rotate',
    'keys/revoke',
    'bans/lift',
    'data/update',
    'lists/add',
    'lists/remove',
    'policy/save',
  ]
  for (const path of paths) t.equal(await ask(path, {}), 403, path)
  for (const [path, body, status] of [
    ['accounts', { plan: 'gold' }, 400],
    ['accounts', { plan: 'free', name: 'x'.repeat(201) }, 400],
    ['accounts/plan', { account: 'nobody', plan: 'free' }, 404],
    ['keys', { account: 'nobody' }, 404],
    ['keys', [], 400],
    ['keys/rotate', { id: 'nobody' }, 404],
    ['keys/revoke', { id: 'nobody' }, 404],
    ['bans/lift', { id: 'nobody' }, 404],
    ['data/update', { source: 'nobody' }, 400],
    ['policy/save', { text: '' }, 400],
  ] as const) {
    t.equal(await ask(path, body, ADMIN), status, `${path} ${JSON.stringify(body)}`)
  }
})
