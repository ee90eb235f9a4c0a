import type { Account, Accounts, StoredKey } from './ports.ts'

/** Keeps accounts in the memory of this process alone. */
export function createMemoryAccounts(): Accounts {
  const accounts = new Map<string, Account>()
  return {
    async createAccount(account) {
      if (accounts.has(account.id)) return false
      accounts.set(account.id, account)
      return true
    },
    findAccount: async (id) => accounts.get(id),
    listAccounts: async () => [...accounts.values()].sort((x, y) => (x.id < y.id ? -1 : 1)),
    async setPlan(id, plan) {
      const account = accounts.get(id)
      if (account !== undefined) accounts.set(id, { ...account, plan })
      return account !== undefined
    },
    ...createMemoryKeys(accounts),
    ...createMemoryUsage(accounts),
  }
}

function createMemoryKeys(
  accounts: ReadonlyMap<string, Account>,
): Pick<Accounts, 'createKey' | 'findKey' | 'listKeys' | 'revokeKey' | 'replaceKey' | 'recordUses'> {
  const keys = new Map<string, StoredKey>()
  return {
    async createKey(key) {
      if (!accounts.has(key.accountId)) throw new Error(`No account ${key.accountId}`)
      if (keys.has(key.id)) throw new Error(`A key ${key.id} exists`)
      keys.set(key.id, key)
    },
    async findKey(id) {
      const key = keys.get(id)
      const account = key && accounts.get(key.accountId)
      return key && account && { key, account }
    },
    listKeys: async (accountId) =>
      [...keys.values()].filter((key) => accountId === undefined || key.accountId === accountId),
    async revokeKey(id, at) {
      const key = keys.get(id)
      if (key === undefined || key.revokedAt !== undefined) return false
      keys.set(id, { ...key, revokedAt: at })
      return true
    },
    async replaceKey(id, next) {
      const key = keys.get(id)
      if (key === undefined || key.revokedAt !== undefined) return undefined
      if (keys.has(next.id)) throw new Error(`A key ${next.id} exists`)
      keys.set(id, { ...key, revokedAt: next.createdAt })
      keys.set(next.id, { ...next, accountId: key.accountId })
      return accounts.get(key.accountId)
    },
    async recordUses(uses) {
      for (const { id, at } of uses) {
        const key = keys.get(id)
        if (key !== undefined && (key.lastUsedAt ?? '') < at) keys.set(id, { ...key, lastUsedAt: at })
      }
    },
  }
}

function createMemoryUsage(accounts: ReadonlyMap<string, Account>): Pick<Accounts, 'spend' | 'refund' | 'usage'> {
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
    async spend(accountId, windowId, limit, calls = 1) {
      if (!accounts.has(accountId)) throw new Error(`No account ${accountId}`)
      const granted = Math.max(0, Math.min(calls, limit - usedFrom(accountId, windowId)))
      if (granted > 0) add(accountId, windowId, granted)
      return { granted, used: usedFrom(accountId, windowId), windowId }
    },
    async refund(accountId, windowId, calls = 1) {
      if (counts.get(accountId)?.has(windowId)) add(accountId, windowId, -calls)
    },
    usage: async (accountId, windowId) => usedFrom(accountId, windowId),
  }
}
