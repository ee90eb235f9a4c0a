import { randomBytes, randomUUID } from 'node:crypto'
import { type Clock, SallyportError } from '@sallyport/core'
import { type Account, type Accounts, createKey, dateText, isDate, KEY_BYTES, type PlanName } from '#accounts'

/** Properties of a new account. */
export interface NewAccount {
  /** Default `free`. */
  readonly plan?: PlanName | undefined
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
  /** An account without a key. Throws `invalid_request` for a signup that is not a day. */
  createAccount(account: NewAccount): Promise<Account>
  /** Throws `unknown_account`, and `invalid_request` for a signup that is not a day. */
  issue(owner: KeyOwner): Promise<IssuedKey>
  /** Throws `unknown_key`. */
  revoke(id: string): Promise<void>
  /** A new key for the account of another, which is revoked in the same step. Throws `unknown_key`. */
  rotate(id: string): Promise<IssuedKey>
}

export function createKeyring(accounts: Accounts, clock: Clock): Keyring {
  async function createAccount({ plan = 'free', signup, name = '' }: NewAccount): Promise<Account> {
    const signupDate = signup ?? dateText(clock.now())
    if (!isDate(signupDate))
      throw new SallyportError('invalid_request', `signup: "${signupDate}" is not a day YYYY-MM-DD.`)
    const account: Account = { id: randomUUID(), name, plan, signupDate }
    await accounts.createAccount(account)
    return account
  }

  async function ownerAccount(owner: KeyOwner): Promise<Account> {
    if (!('account' in owner)) return createAccount(owner)
    const account = await accounts.findAccount(owner.account)
    if (account === undefined) throw new SallyportError('unknown_account', `There is no account "${owner.account}".`)
    return account
  }

  function newKey() {
    const { text, record } = createKey(randomBytes(KEY_BYTES))
    return { text, key: { ...record, createdAt: new Date(clock.now()).toISOString() } }
  }

  return {
    createAccount,
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

function unknownKey(id: string): SallyportError {
  return new SallyportError('unknown_key', `There is no key "${id}", or it was revoked before.`)
}
