import type { Account, Accounts, StoredKey } from './ports.ts'

/** A fault of one operation: whether it is applied before it rejects, and with what. */
export interface Fault {
  readonly apply: boolean
  readonly error: Error
}

/** Called before every operation; `undefined` lets it through. */
export type FaultHook = (operation: string) => Fault | undefined

type Run = <T>(operation: string, step: () => T) => Promise<T>

/** Keeps accounts in the memory of this process alone. */
export function createMemoryAccounts(fault: FaultHook = () => undefined): Accounts {
  const accounts = new Map<string, Account>()

  async function run<T>(operation: string, step: () => T): Promise<T> {
    const injected = fault(operation)
    if (injected === undefined) return step()
    if (injected.apply) step()
    throw injected.error
  }

  return {
    createAccount: (account) =>
      run('createAccount', () => {
        if (accounts.has(account.id)) return false
        accounts.set(account.id, account)
        return true
      }),
    findAccount: (id) => run('findAccount', () => accounts.get(id)),
    listAccounts: () => run('listAccounts', () => [...accounts.values()].sort((x, y) => (x.id < y.id ? -1 : 1))),
    setPlan: (id, plan) =>
      run('setPlan', () => {
        const account = accounts.get(id)
        if (account !== undefined) accounts.set(id, { ...account, plan })
        return account !== undefined
      }),
    ...createMemoryKeys(accounts, run),
    ...createMemoryUsage(accounts, run),
  }
}

function createMemoryKeys(
  accounts: ReadonlyMap<string, Account>,
  run: Run,
): Pick<Accounts, 'createKey' | 'findKey' | 'listKeys' | 'revokeKey' | 'replaceKey' | 'recordUses'> {
  const keys = new Map<string, StoredKey>()
  return {
    createKey: (key) =>
      run('createKey', () => {
        if (!accounts.has(key.accountId)) throw new Error(`No account ${key.accountId}`)
        if (keys.has(key.id)) throw new Error(`A key ${key.id} exists`)
        keys.set(key.id, key)
      }),
    findKey: (id) =>
      run('findKey', () => {
        const key = keys.get(id)
        const account = key && accounts.get(key.accountId)
        return key && account && { key, account }
      }),
    listKeys: (accountId) =>
      run('listKeys', () => [...keys.values()].filter((key) => accountId === undefined || key.accountId === accountId)),
    revokeKey: (id, at) =>
      run('revokeKey', () => {
        const key = keys.get(id)
        if (key === undefined || key.revokedAt !== undefined) return false
        keys.set(id, { ...key, revokedAt: at })
        return true
      }),
    replaceKey: (id, next) =>
      run('replaceKey', () => {
        const key = keys.get(id)
        if (key === undefined || key.revokedAt !== undefined) return undefined
        if (keys.has(next.id)) throw new Error(`A key ${next.id} exists`)
        keys.set(id, { ...key, revokedAt: next.createdAt })
        keys.set(next.id, { ...next, accountId: key.accountId })
        return accounts.get(key.accountId)
      }),
    recordUses: (uses) =>
      run('recordUses', () => {
        for (const { id, at } of uses) {
          const key = keys.get(id)
          if (key !== undefined && (key.lastUsedAt ?? '') < at) keys.set(id, { ...key, lastUsedAt: at })
        }
      }),
  }
}

function createMemoryUsage(
  accounts: ReadonlyMap<string, Account>,
  run: Run,
): Pick<Accounts, 'spend' | 'refund' | 'usage'> {
  /** Holds counts by account, then by window. */
  const counts = new Map<string, Map<string, number>>()

  function usedFrom(accountId: string, windowId: string): number {
    const windows = [...(counts.get(accountId) ?? [])].filter(([id]) => id >= windowId)
    return windows.reduce((sum, [, used]) => sum + used, 0)
  }

  function add(accountId: string, windowId: string, calls: number): void {
    const windows = counts.get(accountId) ?? new Map<string, number>()
    counts.set(accountId, windows.set(windowId, Math.max(0, (windows.get(windowId) ?? 0) + calls)))
  }

  return {
    spend: (accountId, windowId, limit, calls = 1) =>
      run('spend', () => {
        if (!accounts.has(accountId)) throw new Error(`No account ${accountId}`)
        const granted = Math.max(0, Math.min(calls, limit - usedFrom(accountId, windowId)))
        if (granted > 0) add(accountId, windowId, granted)
        return { granted, used: usedFrom(accountId, windowId), windowId }
      }),
    refund: (accountId, windowId, calls = 1) =>
      run('refund', () => {
        if (counts.get(accountId)?.has(windowId)) add(accountId, windowId, -calls)
      }),
    usage: (accountId, windowId) => run('usage', () => usedFrom(accountId, windowId)),
  }
}
