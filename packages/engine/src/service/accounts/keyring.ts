import { randomBytes, randomUUID } from 'node:crypto'
import { type Clock, SallyportError } from '@sallyport/core'
import { type Account, type Accounts, createKey, dateText, isDate, KEY_BYTES, mergePlans, type Plans } from '#accounts'

/** Properties of a new account. */
export interface NewAccount {
  /** Default `free`. */
  readonly plan?: string | undefined
  /** `YYYY-MM-DD`, the anchor of the billing window; default today (UTC). */
  readonly signup?: string | undefined
  readonly name?: string | undefined
}

/** Owner of a new key: an existing account, or the properties of a new one. */
export type KeyOwner = { readonly account: string } | NewAccount

/** A new key. `key` is shown here and nowhere else: only its hash is kept. */
export interface IssuedKey {
  readonly key: string
  /** The public id, by which it is listed and revoked. */
  readonly id: string
  readonly account: Account
}

/** Makes accounts, and makes and withdraws API keys: the accounts port with a clock and randomness. */
export interface Keyring {
  /** The plans that an account may have. */
  readonly plans: Plans
  /** An account without a key. Throws `invalid_request` for a signup that is not a day, and an unknown plan. */
  createAccount(account: NewAccount): Promise<Account>
  /** Throws `unknown_account`, and `invalid_request` for an unknown plan. */
  setPlan(account: string, plan: string): Promise<void>
  /** Throws `unknown_account`, and `invalid_request` for a signup that is not a day, and an unknown plan. */
  issue(owner: KeyOwner): Promise<IssuedKey>
  /** Throws `unknown_key`. */
  revoke(id: string): Promise<void>
  /** A new key for the account of another, which is revoked in the same step. Throws `unknown_key`. */
  rotate(id: string): Promise<IssuedKey>
}

/** `configured`: `api.plans`. */
export function createKeyring(accounts: Accounts, clock: Clock, configured: Parameters<typeof mergePlans>[0]): Keyring {
  const plans = mergePlans(configured)
  function checkPlan(plan: string): void {
    if (Object.hasOwn(plans, plan)) return
    throw new SallyportError('invalid_request', `plan: "${plan}" is none of ${Object.keys(plans).join(', ')}.`)
  }

  async function createAccount({ plan = 'free', signup, name = '' }: NewAccount): Promise<Account> {
    const signupDate = signup ?? dateText(clock.now())
    if (!isDate(signupDate))
      throw new SallyportError('invalid_request', `signup: "${signupDate}" is not a day YYYY-MM-DD.`)
    checkPlan(plan)
    const account: Account = { id: randomUUID(), name, plan, signupDate }
    await accounts.createAccount(account)
    return account
  }

  async function ownerAccount(owner: KeyOwner): Promise<Account> {
    if (!('account' in owner)) return createAccount(owner)
    const account = await accounts.findAccount(owner.account)
    if (account === undefined) throw unknownAccount(owner.account)
    return account
  }

  function newKey() {
    const { text, record } = createKey(randomBytes(KEY_BYTES))
    return { text, key: { ...record, createdAt: new Date(clock.now()).toISOString() } }
  }

  return {
    plans,
    createAccount,
    async setPlan(account, plan) {
      checkPlan(plan)
      if (!(await accounts.setPlan(account, plan))) throw unknownAccount(account)
    },
    async issue(owner) {
      const account = await ownerAccount(owner)
      const { text, key } = newKey()
      await accounts.createKey({ ...key, accountId: account.id })
      return { key: text, id: key.id, account }
    },
    async revoke(id) {
      const revoked = await accounts.revokeKey(id, new Date(clock.now()).toISOString())
      if (!revoked) throw unknownKey(id)
    },
    async rotate(id) {
      const { text, key } = newKey()
      const account = await accounts.replaceKey(id, key)
      if (account === undefined) throw unknownKey(id)
      return { key: text, id: key.id, account }
    },
  }
}

function unknownAccount(id: string): SallyportError {
  return new SallyportError('unknown_account', `There is no account "${id}".`)
}

function unknownKey(id: string): SallyportError {
  return new SallyportError('unknown_key', `There is no key "${id}", or it was revoked before.`)
}
