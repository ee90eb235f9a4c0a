import type { Account } from '@sallyport/engine'
import t from 'tap'
import { workspace } from './command.ts'

t.test('keys and accounts, from the first key to its end', async (t) => {
  const { command, object } = workspace(t)

  t.match((await command('keys', 'list')).out, 'There are no keys.')
  t.match((await command('accounts', 'list')).out, 'There are no accounts.')

  const first = await object('keys', 'create', '--plan', 'pro', '--signup', '2026-01-31', '--name', 'Example')
  t.match(first, { key: /^sp_\w{8}_\w{49}$/, account: { name: 'Example', plan: 'pro', signupDate: '2026-01-31' } })
  const account: string = first.account.id
  const second = await object('keys', 'create', '--account', account)
  t.equal(second.account.id, account)
  t.not(second.key, first.key)
  const free = await command('keys', 'create')
  t.match(free.out, /^sp_\w{8}_\w{49}\nfor an account without a name, id \S+, plan free; it is not shown again\n$/)

  const listed = await object('keys', 'list')
  t.equal(listed.length, 3)
  t.notMatch(JSON.stringify(listed), first.key.slice(12), 'no key and no hash is in a list')
  t.notOk('hash' in listed[0])
  t.equal((await object('keys', 'list', '--account', account)).length, 2)

  t.strictSame(await object('keys', 'revoke', first.id), { id: first.id, revoked: true })
  t.match(await command('keys', 'revoke', first.id), { code: 1, err: /^sallyport: The key "/ })
  t.match((await command('keys', 'list')).out, new RegExp(`${first.id} .* revoked `))

  const rotated = await object('keys', 'rotate', second.id)
  t.match(rotated, { key: /^sp_\w{8}_\w{49}$/, account: { id: account, plan: 'pro' } })
  t.match(await command('keys', 'rotate', second.id), { code: 1, err: /^sallyport: The key "/ })
  t.match((await command('keys', 'list')).out, new RegExp(`${second.id} .* never .* revoked `))
  const again = /^sp_\w{8}_\w{49}\nfor (the account .+|an account without a name), id \S+, plan pro; it is not/
  t.match((await command('keys', 'rotate', rotated.id)).out, again)

  t.strictSame(await object('accounts', 'set-plan', account, 'business'), { id: account, plan: 'business' })
  const plans = (await object('accounts', 'list')).map(({ id, plan }: Account) => [id === account, plan].join())
  t.strictSame(plans.sort(), ['false,free', 'true,business'])
  t.match(await command('accounts', 'set-plan', 'nobody', 'free'), {
    code: 1,
    err: 'sallyport: The account "nobody" does not exist.\n',
  })
  t.match(await command('keys', 'create', '--account', 'nobody'), { code: 1, err: /^sallyport: The account/ })
})

t.test('a plan is one of the specification or of the configuration', async (t) => {
  const { command } = workspace(t, ['api: { plans: { team: 250000, own: unlimited } }'])
  const other = workspace(t)
  const [id = ''] = (await command('accounts', 'create')).out.split('\n')
  t.match(await command('accounts', 'set-plan', id, 'team'), { code: 0, out: /is on plan team/ })
  const err = 'sallyport: plan: "team" is not one of free, starter, pro, business, enterprise.\n'
  for (const argv of ['keys create --plan team', 'accounts create --plan team', 'accounts set-plan a team'])
    t.strictSame(await other.command(...argv.split(' ')), { code: 1, out: '', err }, argv)
})

t.test('an account is made first, and its keys after', async (t) => {
  const { command, object } = workspace(t)
  const made = await object('accounts', 'create', '--plan', 'starter', '--signup', '2026-01-31', '--name', 'Example')
  t.match(made, { id: String, name: 'Example', plan: 'starter', signupDate: '2026-01-31' })
  t.match((await command('keys', 'list', '--account', made.id)).out, 'There are no keys.')
  t.same((await object('keys', 'create', '--account', made.id)).account, made)
  const { out } = await command('accounts', 'create')
  t.match(out, /^[\w-]{36}\nis on plan free\. To create a key: sallyport keys create --account [\w-]{36}\n$/)
  t.same((await object('accounts', 'list')).map(({ id }: Account) => id).sort(), [made.id, out.slice(0, 36)].sort())
})

t.test('a store that cannot be reached is one line and exit 1', async (t) => {
  const { command } = workspace(t, ['store: postgres://app:secret@127.0.0.1:1/app'])
  const err = /^sallyport: The store cannot be reached: [^\n]+\n$/
  for (const argv of ['keys list', 'keys create', 'accounts list --json'])
    t.match(await command(...argv.split(' ')), { code: 1, out: /^$/, err }, argv)
})
