import { type Accounts, createMemoryAccounts } from '#accounts'

/** A fault of one operation: whether it is applied before it rejects, and with what. */
export interface Fault {
  readonly apply: boolean
  readonly error: Error
}

/** Called before every operation; `undefined` lets it through. */
export type FaultHook = (operation: string) => Fault | undefined

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
