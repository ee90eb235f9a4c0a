import { type Account, type Accounts, createKey, KEY_BYTES, type StoredKey } from '#accounts'

/** The assertions a contract row needs; a test of tap has them. */
export interface Check {
  equal(found: unknown, wanted: unknown, ...name: [] | [string]): unknown
  same(found: unknown, wanted: unknown, ...name: [] | [string]): unknown
  rejects(promise: Promise<unknown>, ...name: [] | [string]): Promise<unknown>
}

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

/** Lists the contract of `Accounts`: the same rows run against every implementation. */
export const ACCOUNTS_CONTRACT: readonly ContractRow<Accounts>[] = [
  {
    name: 'an account is found as it was created',
    async run(accounts, check) {
      check.equal(await accounts.createAccount(ACCOUNT), true)
      check.same(await accounts.findAccount(ACCOUNT.id), ACCOUNT)
      check.equal(await accounts.findAccount('nobody'), undefined)
    },
  },
  {
    name: 'a second account of one id changes nothing',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      check.equal(await accounts.createAccount({ ...ACCOUNT, plan: 'enterprise', name: 'Eve' }), false)
      check.same(await accounts.findAccount(ACCOUNT.id), ACCOUNT)
    },
  },
  {
    name: 'accounts are listed by id, and a plan can be changed',
    async run(accounts, check) {
      const other: Account = { ...ACCOUNT, id: 'acc-0', name: '' }
      for (const account of [ACCOUNT, other]) await accounts.createAccount(account)
      check.equal(await accounts.setPlan(ACCOUNT.id, 'pro'), true)
      check.equal(await accounts.setPlan('nobody', 'pro'), false)
      check.same(await accounts.listAccounts(), [other, { ...ACCOUNT, plan: 'pro' }])
    },
  },
  {
    name: 'a key is found by its public id, with its account',
    async run(accounts, check) {
      const { key } = makeKey(1)
      await accounts.createAccount(ACCOUNT)
      await accounts.createKey(key)
      check.same(await accounts.findKey(key.id), { key, account: ACCOUNT })
      check.equal(await accounts.findKey('00000000'), undefined)
    },
  },
  {
    name: 'a key needs an account, and an id of its own',
    async run(accounts, check) {
      const { key } = makeKey(2)
      await check.rejects(accounts.createKey(key), 'no account')
      await accounts.createAccount(ACCOUNT)
      await accounts.createKey(key)
      await check.rejects(accounts.createKey(key), 'same id')
    },
  },
  {
    name: 'a key is revoked once, and stays in the list',
    async run(accounts, check) {
      const { key } = makeKey(3)
      const at = '2026-03-01T00:00:00.000Z'
      await accounts.createAccount(ACCOUNT)
      await accounts.createKey(key)
      check.equal(await accounts.revokeKey('00000000', at), false, 'unknown')
      check.equal(await accounts.revokeKey(key.id, at), true)
      check.equal(await accounts.revokeKey(key.id, '2026-04-01T00:00:00.000Z'), false, 'again')
      check.same(await accounts.findKey(key.id), { key: { ...key, revokedAt: at }, account: ACCOUNT })
      check.same(await accounts.listKeys(), [{ ...key, revokedAt: at }])
    },
  },
  {
    name: 'a key is replaced by another of its account, once',
    async run(accounts, check) {
      const [{ key }, { key: next }] = [makeKey(7), makeKey(8)]
      await accounts.createAccount(ACCOUNT)
      await accounts.createKey(key)
      const { accountId: _, ...unowned } = next
      check.equal(await accounts.replaceKey('00000000', unowned), undefined, 'unknown')
      check.same(await accounts.replaceKey(key.id, unowned), ACCOUNT)
      check.same(await accounts.listKeys(), [{ ...key, revokedAt: next.createdAt }, next])
      check.equal(await accounts.replaceKey(key.id, unowned), undefined, 'again')
      await check.rejects(accounts.replaceKey(next.id, unowned), 'an id of its own')
      check.same(await accounts.findKey(next.id), { key: next, account: ACCOUNT }, 'and the old one stays good')
    },
  },
  {
    name: 'the last use of a key only moves forward',
    async run(accounts, check) {
      const [{ key }, { key: other }] = [makeKey(9), makeKey(10)]
      await accounts.createAccount(ACCOUNT)
      for (const stored of [key, other]) await accounts.createKey(stored)
      const at = (day: number) => `2026-03-0${day}T00:00:00.000Z`
      await accounts.recordUses([])
      await accounts.recordUses([
        { id: key.id, at: at(2) },
        { id: '00000000', at: at(2) },
      ])
      await accounts.recordUses([{ id: key.id, at: at(1) }])
      check.same(await accounts.listKeys(), [{ ...key, lastUsedAt: at(2) }, other])
      await accounts.recordUses([
        { id: other.id, at: at(3) },
        { id: key.id, at: at(3) },
      ])
      check.same(await accounts.listKeys(), [
        { ...key, lastUsedAt: at(3) },
        { ...other, lastUsedAt: at(3) },
      ])
    },
  },
  {
    name: 'keys are listed oldest first, by account or all',
    async run(accounts, check) {
      const other = { ...ACCOUNT, id: 'acc-2' }
      await accounts.createAccount(ACCOUNT)
      await accounts.createAccount(other)
      const keys = [makeKey(4).key, makeKey(5, other.id).key, makeKey(6).key]
      for (const key of keys) await accounts.createKey(key)
      check.same(await accounts.listKeys(), keys)
      check.same(await accounts.listKeys(other.id), [keys[1]])
      check.same(await accounts.listKeys('nobody'), [])
    },
  },
  {
    name: 'calls count up to the limit and not beyond it',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 2), { granted: 1, used: 1, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 2), { granted: 1, used: 2, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 2), { granted: 0, used: 2, windowId: FIRST })
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 2)
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 1), { granted: 0, used: 2, windowId: FIRST }, 'lower limit')
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 3), { granted: 1, used: 3, windowId: FIRST }, 'higher limit')
    },
  },
  {
    name: 'a limit of 0 allows nothing, the largest is exact',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 0), { granted: 0, used: 0, windowId: FIRST })
      const largest = Number.MAX_SAFE_INTEGER
      check.same(await accounts.spend(ACCOUNT.id, FIRST, largest), { granted: 1, used: 1, windowId: FIRST })
    },
  },
  {
    name: 'accounts are counted apart, and only where they exist',
    async run(accounts, check) {
      const other = { ...ACCOUNT, id: 'acc-2' }
      await accounts.createAccount(ACCOUNT)
      await accounts.createAccount(other)
      await accounts.spend(ACCOUNT.id, FIRST, 1)
      check.equal((await accounts.spend(other.id, FIRST, 1)).granted, 1)
      await check.rejects(accounts.spend('nobody', FIRST, 1))
    },
  },
  {
    name: 'a new window starts at 0; a clock set back counts in the old one again, with what was used in the new one',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      await accounts.spend(ACCOUNT.id, FIRST, 1)
      check.equal((await accounts.spend(ACCOUNT.id, FIRST, 1)).granted, 0)
      check.equal(await accounts.usage(ACCOUNT.id, SECOND), 0)
      check.same(await accounts.spend(ACCOUNT.id, SECOND, 1), { granted: 1, used: 1, windowId: SECOND })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 2), { granted: 0, used: 2, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 4, 3), { granted: 2, used: 4, windowId: FIRST })
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 4, 'nothing that was counted is lost')
      check.equal(await accounts.usage(ACCOUNT.id, SECOND), 1, 'and the new one is charged for its own alone')
      check.same(await accounts.spend(ACCOUNT.id, SECOND, 2), { granted: 1, used: 2, windowId: SECOND })
    },
  },
  {
    name: 'a window that only a clock set back reaches counts what was used in the later one',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      await accounts.spend(ACCOUNT.id, SECOND, 5, 2)
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 2), { granted: 0, used: 2, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 5, 9), { granted: 3, used: 5, windowId: FIRST })
      await accounts.refund(ACCOUNT.id, FIRST, 1)
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 4)
      check.equal(await accounts.usage(ACCOUNT.id, SECOND), 2)
    },
  },
  {
    name: 'a refund gives one call back, never more than were counted',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      await accounts.refund(ACCOUNT.id, FIRST)
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
      await accounts.spend(ACCOUNT.id, FIRST, 1)
      await accounts.refund(ACCOUNT.id, FIRST)
      await accounts.refund(ACCOUNT.id, FIRST)
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 1), { granted: 1, used: 1, windowId: FIRST })
    },
  },
  {
    name: 'several calls are counted at once, up to what is left',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 10, 4), { granted: 4, used: 4, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 10, 4), { granted: 4, used: 8, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 10, 4), { granted: 2, used: 10, windowId: FIRST })
      check.same(await accounts.spend(ACCOUNT.id, FIRST, 10, 4), { granted: 0, used: 10, windowId: FIRST })
      await accounts.refund(ACCOUNT.id, FIRST, 3)
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 7)
      await accounts.refund(ACCOUNT.id, FIRST, 30)
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), 0)
      check.same(
        await accounts.spend(ACCOUNT.id, SECOND, 3, 5),
        { granted: 3, used: 3, windowId: SECOND },
        'a new window',
      )
    },
  },
  {
    name: 'sixteen callers at once are allowed exactly the limit',
    async run(accounts, check) {
      await accounts.createAccount(ACCOUNT)
      const limit = 100
      const caller = async () => {
        let allowed = 0
        for (let call = 0; call < 10; call++) allowed += (await accounts.spend(ACCOUNT.id, FIRST, limit)).granted
        return allowed
      }
      const allowed = await Promise.all(Array.from({ length: 16 }, caller))
      check.equal(
        allowed.reduce((sum, count) => sum + count, 0),
        limit,
      )
      check.equal(await accounts.usage(ACCOUNT.id, FIRST), limit)
    },
  },
]
