export { placeBatch } from '../batch.ts'
export { append, appendMany, type Check, LEDGER_CONTRACT, type LedgerRow, madeDraft } from './contract.ts'
export { MADE_ATTESTATION, MADE_DATASETS, MADE_POLICY, madeRandomness, madeSigner } from './made.ts'
export { createMemoryArchive, createMemoryLedger, type MemoryLedger } from './memory.ts'
