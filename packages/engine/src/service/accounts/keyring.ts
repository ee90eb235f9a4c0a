import { randomBytes, randomUUID } from 'node:crypto'
import { type Clock, SallyportError } from '@sallyport/core'
import { type Account, type Accounts, createKey, dateText, isDate, KEY_BYTES, mergePlans, type Plans } from '#accounts'

/** Describes a new account. */
export interface NewAccount {
  /** Default `free`. */
  readonly plan?: string | undefined
  /** The day `YYYY-MM-DD` on which the billing window starts; default today (UTC). */
  readonly signup?: string | undefined
  readonly name?: string | undefined
}

/** A new key belongs to an existing account, or to a new account with these properties. */
export type KeyOwner = { readonly account: string } | NewAccount

/** A new key; `key` is returned only once, because only its hash is stored. */
export interface IssuedKey {
  readonly key: string
  /** The public id, which lists show and `revoke` takes. */
  readonly id: string
  readonly account: Account
}

/** Creates accounts, and issues and revokes API keys: the accounts port with a clock and randomness. */
export interface Keyring {
  /** Lists the plans that an account may have. */
  readonly plans: Plans
  /** Creates an account without a key. Throws `invalid_request` for a signup that is not a day, and an unknown plan. */
  createAccount(account: NewAccount): Promise<Account>
  /** Throws `unknown_account`, and `invalid_request` for an unknown plan. */
  setPlan(account: string, plan: string): Promise<void>
  /** Throws `unknown_account`, and `invalid_request` for a signup that is not a day, and an unknown plan. */
  issue(owner: KeyOwner): Promise<IssuedKey>
  /** Throws `unknown_key`. */
  revoke(id: string): Promise<void>
  /** Issues a new key for the account of another key, and revokes that key in the same step. Throws `unknown_key`. */
  rotate(id: string): Promise<IssuedKey>
}

/** Creates a keyring; `configured` is the key `api.plans`. */
export function createKeyring(accounts: Accounts, clock: Clock, configured: Parameters<typeof mergePlans>[0]): Keyring {
  const plans = mergePlans(configured)
  function checkPlan(plan: string): void {
    if (Object.hasOwn(plans, plan)) return
    throw new SallyportError('invalid_request', `plan: "${plan}" is not one of ${Object.keys(plans).join(', ')}.`)
  }

  async function createAccount({ plan = 'free', signup, name = '' }: NewAccount): Promise<Account> {
    const signupDate = signup ?? dateText(clock.now())
    if (!isDate(signupDate))
      throw new SallyportError('invalid_request', `signup: "${signupDate}" is not a date of the form YYYY-MM-DD.`)
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
  return new SallyportError('unknown_account', `The account "${id}" does not exist.`)
}

function unknownKey(id: string): SallyportError {
  return new SallyportError('unknown_key', `The key "${id}" does not exist or is already revoked.`)
}
