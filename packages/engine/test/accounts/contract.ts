import type { Test } from 'tap'
import { type Account, type Accounts, createKey, KEY_BYTES, type StoredKey } from '#accounts'

/** A contract row makes these assertions. */
export type Check = Pick<Test, 'equal' | 'same' | 'rejects'>

/** One sentence of a port's contract: `run` receives an empty store. */
export interface ContractRow<Port> {
  readonly name: string
  run(port: Port, check: Check): Promise<void>
}

/** Ready-made account for tests. */
export const ACCOUNT: Account = { id: 'acc-1', name: 'Ada', plan: 'free', signupDate: '2026-01-31' }

/** Makes a stored key and its text from one repeated byte. */
export function makeKey(
  byte: number,
  accountId: string = ACCOUNT.id,
): { readonly text: string; readonly key: StoredKey } {
  const { text, record } = createKey(new Uint8Array(KEY_BYTES).fill(byte))
  return {
    text,
    key: { ...record, accountId, createdAt: `2026-01-31T00:00:${String(byte % 60).padStart(2, '0')}.000Z` },
  }
}

const FIRST = '2026-01-31'
const SECOND = '2026-02-28'

/** Returns one sentence of the contract, about a store that has the ready-made account. */
const row = (name: string, run: ContractRow<Accounts>['run']): ContractRow<Accounts> => ({
  name,
  async run(accounts, check) {
    check.equal(await accounts.createAccount(ACCOUNT), true)
    await run(accounts, check)
  },
})

/** Counts calls of the ready-made account: each step has [window, limit, calls, granted, used]. */
async function spend(accounts: Accounts, check: Check, steps: readonly (readonly [string, ...number[]])[]) {
  for (const [windowId, limit = 0, calls, granted, used] of steps) {
    check.same(await accounts.spend(ACCOUNT.id, windowId, limit, calls), { granted, used, windowId })
  }
}

/** Lists the contract of `Accounts`: the same rows run against every implementation. */
export const ACCOUNTS_CONTRACT: readonly ContractRow<Accounts>[] = [
  row('an account is found as it was created, and a second one of its id changes nothing', async (accounts, check) => {
    check.same(await accounts.findAccount(ACCOUNT.id), ACCOUNT)
    check.equal(await accounts.findAccount('nobody'), undefined)
    check.equal(await accounts.createAccount({ ...ACCOUNT, plan: 'enterprise', name: 'Eve' }), false)
    check.same(await accounts.findAccount(ACCOUNT.id), ACCOUNT)
  }),
  row('accounts are listed by id, and a plan can be changed', async (accounts, check) => {
    const other: Account = { ...ACCOUNT, id: 'acc-0', name: '' }
    await accounts.createAccount(other)
    check.equal(await accounts.setPlan(ACCOUNT.id, 'pro'), true)
    check.equal(await accounts.setPlan('nobody', 'pro'), false)
    check.same(await accounts.listAccounts(), [other, { ...ACCOUNT, plan: 'pro' }])
  }),
  row('a key is found by its public id, with its account', async (accounts, check) => {
    const { key } = makeKey(1)
    await accounts.createKey(key)
    check.same(await accounts.findKey(key.id), { key, account: ACCOUNT })
    check.equal(await accounts.findKey('00000000'), undefined)
  }),
  row('a key needs an account, and an id of its own', async (accounts, check) => {
    await check.rejects(accounts.createKey(makeKey(2, 'nobody').key), 'no account')
    const { key } = makeKey(2)
    await accounts.createKey(key)
    await check.rejects(accounts.createKey(key), 'same id')
  }),
  row('a key is revoked once, and stays in the list', async (accounts, check) => {
    const { key } = makeKey(3)
    const at = '2026-03-01T00:00:00.000Z'
    await accounts.createKey(key)
    check.equal(await accounts.revokeKey('00000000', at), false, 'unknown')
    check.equal(await accounts.revokeKey(key.id, at), true)
    check.equal(await accounts.revokeKey(key.id, '2026-04-01T00:00:00.000Z'), false, 'again')
    check.same(await accounts.findKey(key.id), { key: { ...key, revokedAt: at }, account: ACCOUNT })
    check.same(await accounts.listKeys(), [{ ...key, revokedAt: at }])
  }),
  row('a key is replaced by another of its account, once', async (accounts, check) => {
    const [{ key }, { key: next }] = [makeKey(7), makeKey(8)]
    await accounts.createKey(key)
    const { accountId: _, ...unowned } = next
    check.equal(await accounts.replaceKey('00000000', unowned), undefined, 'unknown')
    check.same(await accounts.replaceKey(key.id, unowned), ACCOUNT)
    check.same(await accounts.listKeys(), [{ ...key, revokedAt: next.createdAt }, next])
    check.equal(await accounts.replaceKey(key.id, unowned), undefined, 'again')
    await check.rejects(accounts.replaceKey(next.id, unowned), 'an id of its own')
    check.same(await accounts.findKey(next.id), { key: next, account: ACCOUNT }, 'and the old one stays good')
  }),
  row('the last use of a key only moves forward', async (accounts, check) => {
    const [{ key }, { key: other }] = [makeKey(9), makeKey(10)]
    for (const stored of [key, other]) await accounts.createKey(stored)
    const use = (id: string, day: number) => ({ id, at: `2026-03-0${day}T00:00:00.000Z` })
    await accounts.recordUses([])
    await accounts.recordUses([use(key.id, 2), use('00000000', 2)])
    await accounts.recordUses([use(key.id, 1)])
    check.same(await accounts.listKeys(), [{ ...key, lastUsedAt: use('', 2).at }, other])
    await accounts.recordUses([use(other.id, 3), use(key.id, 3)])
    const lastUsedAt = use('', 3).at
    check.same(
      await accounts.listKeys(),
      [key, other].map((stored) => ({ ...stored, lastUsedAt })),
    )
  }),
  row('keys are listed oldest first, by account or all', async (accounts, check) => {
    const other = { ...ACCOUNT, id: 'acc-2' }
    await accounts.createAccount(other)
    const keys = [makeKey(4).key, makeKey(5, other.id).key, makeKey(6).key]
    for (const key of keys) await accounts.createKey(key)
    check.same(await accounts.listKeys(), keys)
    check.same(await accounts.listKeys(other.id), [keys[1]])
    check.same(await accounts.listKeys('nobody'), [])
  }),
  row('calls count up to the limit and not beyond it', async (accounts, check) => {
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
    await spend(accounts, check, [
      [FIRST, 0, 1, 0, 0],
      [FIRST, 2, 1, 1, 1],
      [FIRST, 2, 1, 1, 2],
      [FIRST, 2, 1, 0, 2],
    ])
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 2)
    await spend(accounts, check, [
      [FIRST, 1, 1, 0, 2],
      [FIRST, Number.MAX_SAFE_INTEGER, 1, 1, 3],
    ])
  }),
  row('accounts are counted apart, and only where they exist', async (accounts, check) => {
    const other = { ...ACCOUNT, id: 'acc-2' }
    await accounts.createAccount(other)
    await accounts.spend(ACCOUNT.id, FIRST, 1)
    check.equal((await accounts.spend(other.id, FIRST, 1)).granted, 1)
    await check.rejects(accounts.spend('nobody', FIRST, 1))
  }),
  row('a clock set back counts in the old window again, with what was used in the new', async (accounts, check) => {
    await spend(accounts, check, [
      [FIRST, 1, 1, 1, 1],
      [FIRST, 1, 1, 0, 1],
    ])
    check.equal(await accounts.usage(ACCOUNT.id, SECOND), 0)
    await spend(accounts, check, [
      [SECOND, 1, 1, 1, 1],
      [FIRST, 2, 1, 0, 2],
      [FIRST, 4, 3, 2, 4],
    ])
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 4, 'nothing that was counted is lost')
    check.equal(await accounts.usage(ACCOUNT.id, SECOND), 1, 'and the new one is charged for its own alone')
    await spend(accounts, check, [[SECOND, 2, 1, 1, 2]])
  }),
  row('a window that only a clock set back reaches counts what was used in the later one', async (accounts, check) => {
    await spend(accounts, check, [
      [SECOND, 5, 2, 2, 2],
      [FIRST, 2, 1, 0, 2],
      [FIRST, 5, 9, 3, 5],
    ])
    await accounts.refund(ACCOUNT.id, FIRST, 1)
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 4)
    check.equal(await accounts.usage(ACCOUNT.id, SECOND), 2)
  }),
  row('several calls are counted and given back at once, never more than there are', async (accounts, check) => {
    await accounts.refund(ACCOUNT.id, FIRST)
    await spend(accounts, check, [[FIRST, 10, 1, 1, 1]])
    for (let time = 0; time < 2; time++) await accounts.refund(ACCOUNT.id, FIRST)
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
    await spend(accounts, check, [
      [FIRST, 10, 4, 4, 4],
      [FIRST, 10, 4, 4, 8],
      [FIRST, 10, 4, 2, 10],
      [FIRST, 10, 4, 0, 10],
    ])
    await accounts.refund(ACCOUNT.id, FIRST, 3)
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 7)
    await accounts.refund(ACCOUNT.id, FIRST, 30)
    check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
    await spend(accounts, check, [[SECOND, 3, 5, 3, 3]])
  }),
  row('sixteen callers at once are allowed exactly the limit', async (accounts, check) => {
    const limit = 100
    const caller = async () => {
      let allowed = 0
      for (let call = 0; call < 10; call++) allowed += (await accounts.spend(ACCOUNT.id, FIRST, limit)).granted
      return allowed
    }
    const allowed = await Promise.all(Array.from({ length: 16 }, caller))
    const sum = allowed.reduce((total, count) => total + count, 0)
    check.same([sum, await accounts.usage(ACCOUNT.id, FIRST)], [limit, limit])
  }),
]
