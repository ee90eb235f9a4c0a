export { type AuditOptions, type AuditReport, auditLedger } from './audit.ts'
export { type Committer, createCommitter } from './committer.ts'
export { type EvidenceJson, type EvidenceQuery, RangeTooWide } from './evidence.ts'
export { type Ledger, type LedgerStatus, openLedger } from './ledger.ts'
export {
  type AddressRecord,
  type Batch,
  type CheckpointArchive,
  type Head,
  type Heads,
  headOf,
  LedgerRefused,
  type LedgerStore,
  LedgerUnavailable,
  RESERVE_MS,
  type SignedHead,
  type Signer,
  type StoredRecord,
  type Uncovered,
} from './ports.ts'
export { canonicalText, type Document, documentOf, type Statement, type Subject } from './record.ts'
export { archiveName, type Jwks, KEY_LOG, thumbprint } from './signing.ts'
export { leafTile, openFrontier, TILE_WIDTH } from './tree.ts'
export { EVIDENCE_TYPE } from './verify/evidence-form.ts'
