export type { ApiHost } from './api-answer.ts'
export type { Attester } from './attest-request.ts'
export type { DecisionEvent, RefusalEvent } from './create-inspection.ts'
export type { Decider } from './decide-request.ts'
export { guardUpgrade } from './guard-upgrade.ts'
export type { Identity, InspectionOptions, RefusalAnswer, Rendering } from './inspection-options.ts'
export {
  type Handler,
  type Inspected,
  listener,
  type NodeRequest,
  type NodeResponse,
  type V1Options,
  v1,
} from './listener.ts'
export { type HandoffRequest, verifyHandoff } from './verify-handoff.ts'
