export { type Appender, type AppenderOptions, createAppender } from './appender.ts'
export { type AuditFault, type AuditOptions, type AuditReport, auditLedger } from './audit.ts'
export { type Batch, type Placed, type PlacedRecord, placeBatch } from './batch.ts'
export { canonicalText } from './canonical.ts'
export { type EvidenceJson, type EvidenceQuery, RangeTooWide } from './evidence.ts'
export { type Ledger, type LedgerPorts, openLedger } from './ledger.ts'
export {
  type CheckpointArchive,
  type Head,
  LedgerRefused,
  type LedgerStore,
  LedgerUnavailable,
  type Place,
  type Randomness,
  type SignedHead,
  type Signer,
  type StoredRecord,
  type Uncovered,
} from './ports.ts'
export { pooledRandomness } from './randomness.ts'
export { type Attestation, type Document, type Draft, documentOf, draftAttestation, type Subject } from './record.ts'
export { createRecordMemory, mostBytesOf } from './record-memory.ts'
export { type Replay, replayRecords } from './replay.ts'
export { archiveName, type Jwk, type Jwks, KEY_LOG, thumbprint } from './signing.ts'
export { leafTile, openFrontier, TILE_WIDTH, type TreeNode } from './tree.ts'
export { EVIDENCE_TYPE } from './verify/evidence-form.ts'
