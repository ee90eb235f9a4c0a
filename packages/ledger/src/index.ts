export { listNewestAnchors, type NewestAnchor } from './anchors.ts'
export { type AuditOptions, type AuditReport, auditLedger } from './audit.ts'
export { type Committer, createCommitter } from './committer.ts'
export type { CrawlsJson, CrawlsQuery } from './crawl-evidence.ts'
export { type EvidenceJson, type EvidenceQuery, RangeTooWide } from './evidence.ts'
export { type Ledger, type LedgerStatus, openLedger } from './ledger.ts'
export {
  type AddressRecord,
  type Batch,
  type CheckpointArchive,
  type Grown,
  type Head,
  type Heads,
  LedgerRefused,
  type LedgerStore,
  LedgerUnavailable,
  RESERVE_MS,
  readHead,
  type SignedHead,
  type Signer,
  type Stamp,
  type StoredRecord,
  type Uncovered,
} from './ports.ts'
export {
  type Crawl,
  type CrawlRow,
  canonicalText,
  type Document,
  readDocument,
  type Statement,
  type Subject,
} from './record.ts'
export { archiveName, type Jwks, KEY_LOG } from './signing.ts'
export { leafTile, openFrontier, TILE_WIDTH } from './tree.ts'
export { parseWitness, readCosignatures, type Witness } from './verify/cosignature.ts'
export type { RecordedPreference } from './verify/crawl-form.ts'
export { ANCHORED_TYPE, EVIDENCE_TYPE } from './verify/evidence-form.ts'
export { thumbprint } from './verify/keys.ts'
export { parseCheckpoint } from './verify/note.ts'
export { UNKNOWN_REGION } from './verify/record.ts'
