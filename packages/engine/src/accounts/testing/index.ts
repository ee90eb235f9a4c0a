/** Serves tests of the rooms that use or implement the ports of accounts; a server never loads it. */

export { createMemoryAccounts, type Fault, type FaultHook } from '../memory.ts'
export { ACCOUNT, ACCOUNTS_CONTRACT, type Check, type ContractRow, makeKey } from './contract.ts'
