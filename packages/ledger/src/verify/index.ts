/* The offline verifier: this folder imports nothing but itself and node:crypto, and shares no code with the service. */

export type { AxisResult } from './axis-result.ts'
export { ShapeError } from './shape.ts'
export { AXES, type Axis, type EvidenceReport, type RecordedDecision, verifyEvidence } from './verify-evidence.ts'
