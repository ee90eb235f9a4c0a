import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createMemoryAccounts } from '#accounts'
import { leaseCalls } from '../../src/stores/index.ts'
import type { Cleanup } from '../../src/stores/testing/index.ts'
import { ACCOUNT, ACCOUNTS_CONTRACT } from '../accounts/contract.ts'
import { createFaultyAccounts, type FaultHook } from '../accounts/faulty.ts'
import { closeAfter } from './processes.ts'

const WINDOW = '2026-01-31'
const LATER = '2026-02-28'

for (const row of ACCOUNTS_CONTRACT) {
  t.test(`contract: ${row.name}`, async (t) => {
    const accounts = leaseCalls(createMemoryAccounts(), t.error)
    await row.run(accounts, t)
    await accounts.close()
  })
}

async function openLeased(t: Cleanup, fault?: FaultHook) {
  let spends = 0
  const store = createFaultyAccounts((operation) => {
    if (operation === 'spend') spends++
    return fault?.(operation)
  })
  await store.createAccount(ACCOUNT)
  const errors: unknown[] = []
  const accounts = closeAfter(
    t,
    leaseCalls(store, (error) => errors.push(error)),
  )
  const spend = (limit = 30_000, window = WINDOW) => accounts.spend(ACCOUNT.id, window, limit)
  return { store, accounts, errors, spend, spends: () => spends }
}

t.test('an account that is not busy is counted call by call', async (t) => {
  const { store, spend, spends } = await openLeased(t)
  for (let call = 1; call <= 32; call++) {
    t.equal((await spend()).used, call)
    t.equal(await store.usage(ACCOUNT.id, WINDOW), call, 'nothing is reserved')
  }
  t.equal(spends(), 32)
})

t.test('a busy account is counted in batches, ahead of every answer', async (t) => {
  const { store, spend, spends, accounts } = await openLeased(t)
  const [wrong, early]: [number[], number[]] = [[], []]
  for (let call = 1; call <= 5_000; call++) {
    if ((await spend()).used !== call) wrong.push(call)
    if ((await store.usage(ACCOUNT.id, WINDOW)) < call) early.push(call)
  }
  t.same(wrong, [], 'every count is that of its call')
  t.same(early, [], 'no call is answered before it is counted')
  t.ok(spends() < 80, `${spends()} statements`)
  t.equal(await accounts.usage(ACCOUNT.id, WINDOW), 5_000, 'what is reserved here does not count as used')
  await accounts.close()
  t.equal(await store.usage(ACCOUNT.id, WINDOW), 5_000, 'what was not used is given back')
})

t.test('however many calls an account has, four thousand are reserved at most', async (t) => {
  const { store, spend } = await openLeased(t)
  let most = 0
  for (let call = 1; call <= 40_000; call++) {
    await spend(Number.MAX_SAFE_INTEGER)
    most = Math.max(most, (await store.usage(ACCOUNT.id, WINDOW)) - call)
  }
  t.ok(most > 2_000 && most < 4_000, `${most} at most`)
})

t.test('a limit that is reached is not asked about by every call', async (t) => {
  const { spend, spends } = await openLeased(t)
  t.equal((await spend(1)).granted, 1)
  const before = spends()
  let granted = 0
  for (let call = 0; call < 1_000; call++) granted += (await spend(1)).granted
  t.equal(granted, 0)
  t.ok(spends() - before < 100, `${spends() - before} statements`)
})

t.test('unused calls are given back after a while', async (t) => {
  const { store, spend } = await openLeased(t)
  for (let call = 0; call < 1_000; call++) await spend()
  t.ok((await store.usage(ACCOUNT.id, WINDOW)) > 1_000, 'reserved')
  while ((await store.usage(ACCOUNT.id, WINDOW)) !== 1_000) await delay(10)
})

t.test('calls that wait at the same moment are one statement', async (t) => {
  const { spend, spends } = await openLeased(t)
  const answers = await Promise.all(Array.from({ length: 200 }, () => spend(150)))
  t.equal(answers.filter(({ granted }) => granted === 1).length, 150)
  t.ok(spends() <= 4, `${spends()} statements`)
})

t.test('several processes together reach the limit exactly', async (t) => {
  const { store, accounts } = await openLeased(t)
  const nodes = [accounts, ...Array.from({ length: 3 }, () => leaseCalls(store, t.error))]
  let allowed = 0
  const caller = async (node: typeof accounts) => {
    for (let call = 0; call < 3_000; call++) {
      const { granted } = await node.spend(ACCOUNT.id, WINDOW, 10_000)
      allowed += granted
    }
  }
  await Promise.all(nodes.map(caller))
  t.equal(allowed, 10_000)
  await Promise.all(nodes.map((node) => node.close()))
  t.equal(await store.usage(ACCOUNT.id, WINDOW), 10_000)
})

t.test('a call that an earlier batch counted is given back too', async (t) => {
  const { store, spend, accounts } = await openLeased(t)
  await spend()
  // It is answered so late that its batch is over.
  await delay(400)
  await spend()
  for (let call = 0; call < 2; call++) await accounts.refund(ACCOUNT.id, WINDOW)
  await accounts.close()
  t.equal(await store.usage(ACCOUNT.id, WINDOW), 0)
})

t.test('closing waits for what is being reserved, and gives that back', async (t) => {
  const store = createMemoryAccounts()
  await store.createAccount(ACCOUNT)
  const slow: typeof store.spend = (...given) => delay(1).then(() => store.spend(...given))
  const accounts = leaseCalls({ ...store, spend: slow }, t.error)
  const spend = () => accounts.spend(ACCOUNT.id, WINDOW, 30_000)
  let calls = 0
  do {
    await spend()
    calls++
  } while (calls < 200 || (await store.usage(ACCOUNT.id, WINDOW)) > calls)
  const last = spend()
  await accounts.close()
  t.equal((await last).granted, 1)
  t.equal(await store.usage(ACCOUNT.id, WINDOW), calls + 1)
})

t.test('a new window and a new plan are counted from their first call', async (t) => {
  const { store, spend, accounts } = await openLeased(t)
  for (let call = 0; call < 100; call++) await spend()
  t.same(await spend(30_000, LATER), { granted: 1, used: 1, windowId: LATER })
  t.equal(await accounts.usage(ACCOUNT.id, LATER), 1, 'what was reserved in the old window stays there')
  t.same(await spend(150_000, LATER), { granted: 1, used: 2, windowId: LATER })
  t.same(await spend(1, LATER), { granted: 0, used: 2, windowId: LATER })
  await accounts.close()
  t.equal(await store.usage(ACCOUNT.id, LATER), 2)
})

t.test('a store that fails refuses every call that waits, and the next one is counted', async (t) => {
  let down = true
  const fault = { apply: false, error: new Error('the store is down') }
  const { spend, errors, accounts, store } = await openLeased(t, (operation) =>
    down && ['spend', 'refund'].includes(operation) ? fault : undefined,
  )
  const outcomes = await Promise.allSettled([spend(), spend(), spend()])
  t.same(new Set(outcomes.map(({ status }) => status)), new Set(['rejected']))
  down = false
  for (let call = 0; call < 500; call++) await spend()
  down = true
  await accounts.close()
  t.same(errors, [fault.error], 'and what could not be given back is reported')
  t.ok((await store.usage(ACCOUNT.id, WINDOW)) > 500, 'counted too many, never too few')
})
