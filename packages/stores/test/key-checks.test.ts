import { setTimeout as delay } from 'node:timers/promises'
import { ACCOUNT, ACCOUNTS_CONTRACT, createMemoryAccounts, type Fault, keyOf } from '@sallyport/accounts/testing'
import t from 'tap'
import { recordKeyUses, rememberKeys } from '../src/index.ts'

for (const row of ACCOUNTS_CONTRACT) {
  t.test(`remembered keys, contract: ${row.name}`, (t) => row.run(rememberKeys(createMemoryAccounts()), t))
}

const DOWN: Fault = { apply: false, error: new Error('the store is down') }

async function remembered() {
  let asked = 0
  let down = false
  const store = createMemoryAccounts((operation) => {
    if (operation === 'findKey') asked++
    return down ? DOWN : undefined
  })
  await store.createAccount(ACCOUNT)
  const [{ key }, { key: other }] = [keyOf(1), keyOf(2)]
  await store.createKey(key)
  await store.createKey(other)
  const setDown = (value: boolean) => {
    down = value
  }
  return { store, accounts: rememberKeys(store), key, other, asked: () => asked, setDown }
}

t.test('a key that was found is not asked for again at once, one that was not is', async (t) => {
  const { accounts, key, asked } = await remembered()
  for (let call = 0; call < 3; call++) t.same((await accounts.findKey(key.id))?.key, key)
  t.equal(asked(), 1)
  for (let call = 0; call < 3; call++) t.equal(await accounts.findKey('00000000'), undefined)
  t.equal(asked(), 4)
})

t.test('a store that is down is no reason to refuse a key found before, and none to take another', async (t) => {
  const { accounts, key, other, setDown } = await remembered()
  await accounts.findKey(key.id)
  setDown(true)
  await delay(300)
  t.same((await accounts.findKey(key.id))?.key, key)
  await t.rejects(accounts.findKey(other.id), /down/)
})

t.test('what another node changed is met soon', async (t) => {
  const { store, accounts, key } = await remembered()
  await accounts.findKey(key.id)
  await store.revokeKey(key.id, '2026-03-01T00:00:00.000Z')
  await delay(300)
  t.equal((await accounts.findKey(key.id))?.key.revokedAt, '2026-03-01T00:00:00.000Z')
})

t.test('last uses are written together, and tried again after a failure', async (t) => {
  const { store, key, other, setDown } = await remembered()
  const errors: unknown[] = []
  const uses = recordKeyUses(store, { onError: (error) => errors.push(error) })
  for (const { id } of [key, key, other]) uses.used(id)
  setDown(true)
  await uses.close()
  t.same(errors, [DOWN.error])
  setDown(false)
  const before = Date.now()
  uses.used(key.id)
  await uses.close()
  const [first, second] = await store.listKeys()
  t.ok(Date.parse(first?.lastUsedAt ?? '') >= before)
  t.ok(Date.parse(second?.lastUsedAt ?? '') <= before)
})
