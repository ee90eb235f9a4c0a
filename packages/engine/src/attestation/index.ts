export { type LedgerTools, openLedgerPlace, openLedgerTools, type RotatedKey } from './ledger.ts'
export type { LedgerTime } from './ledger-time.ts'
export { openProvenance, type Provenance, type ProvenancePorts, readJurisdictionPolicy } from './provenance.ts'
export { environmentName, readSigningKey } from './signing-key.ts'
