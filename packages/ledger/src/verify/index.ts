/* The offline verifier: this folder imports nothing but itself and node:crypto, and shares no code with the service. */

export type { AxisResult } from './axis-result.ts'
export { CRAWLS_TYPE, type RecordedPreference, type RecordedRow } from './crawl-form.ts'
export { ShapeError } from './shape.ts'
export type { TimestampFinding, TimestampFindings } from './time.ts'
export { CRAWL_AXES, type CrawlAxis, type CrawledPath, type CrawlsReport, verifyCrawls } from './verify-crawls.ts'
export { AXES, type Axis, type EvidenceReport, type RecordedDecision, verifyEvidence } from './verify-evidence.ts'
