import { SallyportError } from '@sallyport/core'
import { billingWindow, findAllowance, type StoredKey } from '@sallyport/engine'
import { get, post } from './route.ts'
import { requireText } from './values.ts'

const MAX_NAME = 200

/** Serves the accounts of the API, their keys and their use. */
export const ACCOUNT_ROWS = [
  get('accounts', {}, async ({ now }, { sallyport: { accounts, keyring } }) => {
    const [all, keys] = await Promise.all([accounts.listAccounts(), accounts.listKeys()])
    const rows = await Promise.all(
      all.map(async (account) => {
        const { id: window, resetDate } = billingWindow(account.signupDate, now)
        const used = await accounts.usage(account.id, window)
        const own = keys.filter(({ accountId }) => accountId === account.id).map(showKey)
        return { ...account, used, allowance: findAllowance(keyring.plans, account.plan), resetDate, keys: own }
      }),
    )
    return { plans: Object.keys(keyring.plans), accounts: rows }
  }),
  post('accounts', { role: 'admin', takes: ['name', 'plan'] }, async ({ asked, audit }, { sallyport }) => {
    const { name = '' } = asked
    if (name.length > MAX_NAME) throw new SallyportError('invalid_request', `name: exceeds ${MAX_NAME} characters`)
    const account = await sallyport.keyring.createAccount({ name, plan: requireText(asked.plan, 'plan') })
    audit('accounts create', { account: account.id, plan: account.plan })
    return { account }
  }),
  post('accounts/plan', { role: 'admin', takes: ['account', 'plan'] }, async ({ asked, audit }, { sallyport }) => {
    const [account, plan] = [requireText(asked.account, 'account'), requireText(asked.plan, 'plan')]
    await sallyport.keyring.setPlan(account, plan)
    audit('accounts set-plan', { account, plan })
    return { account, plan }
  }),
  // Only the answer that issues a key contains it.
  post('keys', { role: 'admin', takes: ['account'] }, async ({ asked, audit }, { sallyport }) => {
    const { key, id, account } = await sallyport.keyring.issue({ account: requireText(asked.account, 'account') })
    audit('keys create', { id, account: account.id })
    return { key, id, account: account.id }
  }),
  post('keys/rotate', { role: 'admin', takes: ['id'] }, async ({ asked, audit }, { sallyport }) => {
    const before = requireText(asked.id, 'id')
    const { key, id, account } = await sallyport.keyring.rotate(before)
    audit('keys rotate', { id: before, next: id })
    return { key, id, account: account.id }
  }),
  post('keys/revoke', { role: 'admin', takes: ['id'] }, async ({ asked, audit }, { sallyport }) => {
    const id = requireText(asked.id, 'id')
    await sallyport.keyring.revoke(id)
    audit('keys revoke', { id })
    return { id, revoked: true }
  }),
]

function showKey({ id, createdAt, revokedAt, lastUsedAt }: StoredKey) {
  return { id, createdAt, revokedAt, lastUsedAt }
}
