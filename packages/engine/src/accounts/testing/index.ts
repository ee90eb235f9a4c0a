/** For tests of the rooms that use or implement the ports of accounts; nothing here runs in a server. */

export { createMemoryAccounts, type Fault, type FaultHook } from '../memory.ts'
export { ACCOUNT, ACCOUNTS_CONTRACT, type Check, type ContractRow, keyOf } from './contract.ts'
