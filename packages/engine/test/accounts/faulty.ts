import { type Accounts, createMemoryAccounts } from '#accounts'

/** A fault of one operation: whether it is applied before it rejects, and with what. */
export interface Fault {
  readonly apply: boolean
  readonly error: Error
}

/** Called before every operation; `undefined` lets it through. */
export type FaultHook = (operation: string) => Fault | undefined

/** Rejects one operation, or every one, while `isDown` says so. */
export function failAt(operation?: string, isDown = () => true): FaultHook {
  const error = new Error('the store is gone')
  return (called) => ((operation ?? called) === called && isDown() ? { apply: false, error } : undefined)
}

/** Creates accounts in memory whose operations fail as the hook says. */
export function createFaultyAccounts(fault: FaultHook = () => undefined): Accounts {
  const wrap =
    (operation: string, work: (...given: unknown[]) => Promise<unknown>) =>
    async (...given: unknown[]) => {
      const injected = fault(operation)
      if (injected === undefined) return work(...given)
      if (injected.apply) await work(...given)
      throw injected.error
    }
  const wrapped = Object.entries(createMemoryAccounts()).map(([name, work]) => [name, wrap(name, work)])
  return Object.fromEntries(wrapped)
}
