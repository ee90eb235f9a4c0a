import type { Account, StoredKey } from '#accounts'

/** A row of the tables `account`, `api_key` or `usage`, as either database gives it. */
export type Row = Readonly<Record<string, unknown>>

export function readAccount(row: Row): Account {
  return { id: text(row, 'id'), name: text(row, 'name'), plan: text(row, 'plan'), signupDate: text(row, 'signup_date') }
}

export function readKey(row: Row): StoredKey {
  return {
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    last4: text(row, 'last4'),
    accountId: text(row, 'account_id'),
    createdAt: text(row, 'created_at'),
    ...(row['revoked_at'] === null ? {} : { revokedAt: text(row, 'revoked_at') }),
    ...(row['last_used_at'] === null ? {} : { lastUsedAt: text(row, 'last_used_at') }),
  }
}

export function readCount(row: Row): { readonly used: number; readonly windowId: string } {
  return { used: number(row, 'used'), windowId: text(row, 'window_id') }
}

function text(row: Row, column: string): string {
  return String(row[column])
}

export function number(row: Row, column: string): number {
  return Number(row[column])
}

/** Returns a row that a foreign key must hold in place, or throws. */
export function required<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('A row that a foreign key holds in place is missing.')
  return row
}
