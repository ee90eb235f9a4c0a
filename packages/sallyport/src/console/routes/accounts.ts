import { SallyportError } from '@sallyport/core'
import { type Account, billingWindow, findAllowance, type StoredKey } from '@sallyport/engine'
import { type Body, type Call, type ConsoleParts, row } from './route.ts'
import { readMember } from './values.ts'

const MAX_NAME = 200

/** Serves the accounts of the API, their keys and their use. */
export const ACCOUNT_ROWS = [
  row({
    method: 'GET',
    path: 'accounts',
    role: 'read',
    async answer({ now }, { sallyport: { accounts, keyring } }) {
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
    },
  }),
  row({
    method: 'POST',
    path: 'accounts',
    role: 'admin',
    takes: ['name', 'plan'],
    async answer({ body, audit }, { sallyport }) {
      const given = await body()
      const name = readMember(given, 'name', MAX_NAME) ?? ''
      const account = await sallyport.keyring.createAccount({ name, plan: requireText(given, 'plan') })
      audit('accounts create', { account: account.id, plan: account.plan })
      return { account }
    },
  }),
  row({
    method: 'POST',
    path: 'accounts/plan',
    role: 'admin',
    takes: ['account', 'plan'],
    async answer({ body, audit }, { sallyport }) {
      const given = await body()
      const [id, plan] = [requireText(given, 'account'), requireText(given, 'plan')]
      await sallyport.keyring.setPlan(id, plan)
      audit('accounts set-plan', { account: id, plan })
      return { account: id, plan }
    },
  }),
  row({ method: 'POST', path: 'keys', role: 'admin', takes: ['account'], answer: (call, parts) => issue(call, parts) }),
  row({
    method: 'POST',
    path: 'keys/rotate',
    role: 'admin',
    takes: ['id'],
    async answer({ body, audit }, { sallyport }) {
      const before = requireText(await body(), 'id')
      const { key, id, account } = await sallyport.keyring.rotate(before)
      audit('keys rotate', { id: before, next: id })
      return { key, id, account: account.id }
    },
  }),
  row({
    method: 'POST',
    path: 'keys/revoke',
    role: 'admin',
    takes: ['id'],
    async answer({ body, audit }, { sallyport }) {
      const id = requireText(await body(), 'id')
      await sallyport.keyring.revoke(id)
      audit('keys revoke', { id })
      return { id, revoked: true }
    },
  }),
]

/** Creates a key; only this answer contains it. */
async function issue({ body, audit }: Call<'account'>, { sallyport }: ConsoleParts) {
  const owner = requireText(await body(), 'account')
  const { key, id, account } = await sallyport.keyring.issue({ account: owner })
  audit('keys create', { id, account: account.id })
  return { key, id, account: (account satisfies Account).id }
}

/** Shows a key without its hash. */
function showKey({ id, createdAt, revokedAt, lastUsedAt }: StoredKey) {
  return { id, createdAt, revokedAt, lastUsedAt }
}

function requireText<Name extends string>(given: Body<Name>, name: Name): string {
  const value = readMember(given, name, MAX_NAME)
  if (value === undefined) throw new SallyportError('invalid_request', `${name}: is missing`)
  return value
}
