import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createMemoryAccounts } from '#accounts'
import { recordKeyUses, rememberKeys } from '../../src/stores/index.ts'
import { ACCOUNT, ACCOUNTS_CONTRACT, makeKey } from '../accounts/contract.ts'
import { createFaultyAccounts, type Fault } from '../accounts/faulty.ts'

for (const row of ACCOUNTS_CONTRACT) {
  t.test(`remembered keys, contract: ${row.name}`, (t) => row.run(rememberKeys(createMemoryAccounts()), t))
}

const DOWN: Fault = { apply: false, error: new Error('the store is down') }

async function remembered() {
  let asked = 0
  let down = false
  const store = createFaultyAccounts((operation) => {
    if (operation === 'findKey') asked++
    return down ? DOWN : undefined
  })
  await store.createAccount(ACCOUNT)
  const [{ key }, { key: other }] = [makeKey(1), makeKey(2)]
  await store.createKey(key)
  await store.createKey(other)
  const setDown = (value: boolean) => (down = value)
  let now = 0
  const wait = (ms: number) => (now += ms)
  return { store, accounts: rememberKeys(store, () => now), key, other, asked: () => asked, setDown, wait }
}

t.test('a key that was found is not asked for again at once, one that was not is', async (t) => {
  const { accounts, key, asked } = await remembered()
  for (let call = 0; call < 3; call++) t.same((await accounts.findKey(key.id))?.key, key)
  t.equal(asked(), 1)
  for (let call = 0; call < 3; call++) t.equal(await accounts.findKey('00000000'), undefined)
  t.equal(asked(), 4)
})

t.test('the least recently used of more keys than may be held is queried again', async (t) => {
  const { key } = makeKey(1)
  const asked: string[] = []
  const findKey = async (id: string) => {
    asked.push(id)
    return { key: { ...key, id }, account: ACCOUNT }
  }
  const accounts = rememberKeys({ ...createMemoryAccounts(), findKey }, () => 0)
  for (let number = 0; number <= 10_000; number++) await accounts.findKey(`${number}`)
  t.equal(asked.length, 10_001)
  await accounts.findKey('10000')
  await accounts.findKey('0')
  t.same(asked.slice(10_001), ['0'])
})

t.test('a store that is down is no reason to refuse a key found before, and none to take another', async (t) => {
  const { accounts, key, other, setDown, wait } = await remembered()
  await accounts.findKey(key.id)
  setDown(true)
  wait(250)
  t.same((await accounts.findKey(key.id))?.key, key)
  await t.rejects(accounts.findKey(other.id), /down/)
  wait(59_749)
  t.same((await accounts.findKey(key.id))?.key, key)
  wait(1)
  await t.rejects(accounts.findKey(key.id), /down/, 'after a minute it is')
})

t.test('a change of this process is seen at once', async (t) => {
  const { accounts, key, other } = await remembered()
  for (const { id } of [key, other]) await accounts.findKey(id)
  await accounts.setPlan(ACCOUNT.id, 'pro')
  t.equal((await accounts.findKey(key.id))?.account.plan, 'pro')
  await accounts.findKey(other.id)
  const at = '2026-03-01T00:00:00.000Z'
  await accounts.revokeKey(key.id, at)
  const { accountId: _, ...next } = makeKey(3).key
  await accounts.replaceKey(other.id, { ...next, createdAt: at })
  for (const { id } of [key, other]) t.equal((await accounts.findKey(id))?.key.revokedAt, at)
})

t.test('calls at once share one query, and none that began before a change', async (t) => {
  const store = createMemoryAccounts()
  const { key } = makeKey(1)
  await store.createAccount(ACCOUNT)
  await store.createKey(key)
  const held: (() => void)[] = []
  const accounts = rememberKeys({
    ...store,
    async findKey(id) {
      const found = await store.findKey(id)
      await new Promise<void>((answer) => held.push(answer))
      return found
    },
  })
  const turn = () => delay(1)
  const early = Array.from({ length: 20 }, () => accounts.findKey(key.id))
  await turn()
  t.equal(held.length, 1)
  await accounts.revokeKey(key.id, '2026-03-01T00:00:00.000Z')
  const late = accounts.findKey(key.id)
  await turn()
  t.equal(held.length, 2, 'asked again')
  held[0]?.()
  for (const found of await Promise.all(early)) t.same(found?.key, key)
  const later = accounts.findKey(key.id)
  await turn()
  t.equal(held.length, 2, 'an answer from before the change is not remembered, and the new query is shared')
  held[1]?.()
  for (const found of [await late, await later]) t.equal(found?.key.revokedAt, '2026-03-01T00:00:00.000Z')
})

t.test('a change of another node is seen a quarter of a second later', async (t) => {
  const { store, accounts, key, wait } = await remembered()
  await accounts.findKey(key.id)
  await store.revokeKey(key.id, '2026-03-01T00:00:00.000Z')
  wait(249)
  t.same((await accounts.findKey(key.id))?.key, key)
  wait(1)
  t.equal((await accounts.findKey(key.id))?.key.revokedAt, '2026-03-01T00:00:00.000Z')
})

t.test('last uses are written together, and tried again after a failure', async (t) => {
  const { store, key, other, setDown } = await remembered()
  const errors: unknown[] = []
  const uses = recordKeyUses(store, (error) => errors.push(error))
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

t.test('last uses are written after a while', async (t) => {
  const { store, key } = await remembered()
  const { used } = recordKeyUses(store, t.error, 10)
  const lastUse = async () => (await store.listKeys())[0]?.lastUsedAt
  used(key.id)
  t.equal(await lastUse(), undefined, 'no call waits for that')
  while ((await lastUse()) === undefined) await delay(5)
})
