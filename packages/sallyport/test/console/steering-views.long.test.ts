import t from 'tap'
import { axeFinds, NO_BROWSER, openView } from './browser.ts'
import { ADMIN, NAUGHTY, openScene, WITHOUT_DATA } from './scene.ts'

t.test('an administrator steers, and a reader looks', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const { page, complaints, outside, go, signIn } = await openView(t, scene)
  const { keyring, bans } = scene.sallyport
  for (const name of NAUGHTY) await keyring.createAccount({ name })
  await go('accounts')
  for (const name of NAUGHTY.slice(0, 6)) await page.getByRole('heading', { name, exact: true }).waitFor()
  t.equal(await page.getByRole('button', { name: 'New key' }).count(), 0, 'a reader makes no keys')

  await signIn()
  const name = `Shop ${Date.now()}`
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create' }).click()
  const card = page.getByRole('region', { name, exact: true })
  await card.getByRole('button', { name: 'New key' }).click()
  const key = await page.locator('code.secret').innerText()
  t.match(key, /^sp_\w+/)
  const useKey = async () =>
    (await fetch(`${scene.url}/v1/user/limits`, { headers: { authorization: `Bearer ${key}` } })).status
  t.equal(await useKey(), 200, 'the key works')
  await card.getByLabel('Plan').selectOption('pro')
  await card.getByText('of 500,000').waitFor()
  t.same(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Dismiss' }).click()
  t.notMatch(await page.content(), key, 'shown once')
  await card.getByRole('button', { name: 'Revoke' }).click()
  await card.getByRole('button', { name: 'Yes' }).click()
  await card.getByText('revoked').waitFor()
  t.equal(await useKey(), 401)

  await go('bans')
  await page.getByText('There are no active bans').waitFor()
  const now = Date.now()
  for (const [index, on] of NAUGHTY.entries()) {
    const ban = { id: `ban${index}`, key: `address 203.0.113.${index}`, on, count: 3 }
    await bans.put({ ...ban, since: now, until: now + 600_000 })
  }
  await page.getByText(NAUGHTY[1]).waitFor()
  t.same(await axeFinds(page), [])
  for (const index of NAUGHTY.keys()) await page.getByRole('button', { name: `Lift the ban ban${index}` }).click()
  await page.getByText('There are no active bans').waitFor()
  t.same(await bans.list(), [])

  await go('data')
  await page.getByText('CC-BY-4.0').first().waitFor()
  t.match(await page.locator('main').innerText(), /operators[\s\S]*loaded/)
  await page.getByRole('button', { name: 'Update all now' }).waitFor()
  t.same(await axeFinds(page), [])
  t.same([complaints, outside], [[], []])
})

t.test('a change names its faults', async (t) => {
  const scene = await openScene({}, WITHOUT_DATA)
  t.teardown(scene.close)
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
  ] as const)
    t.equal((await scene.ask(path, body, ADMIN)).status, status, `${path} ${JSON.stringify(body)}`)
})
