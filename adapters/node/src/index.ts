export type { ApiHost } from './api-answer.ts'
export type { Decider } from './decider.ts'
export { guardUpgrade } from './guard-upgrade.ts'
export type { Attester } from './inspection/attest-request.ts'
export type { DecisionEvent, RefusalEvent } from './inspection/create-inspection.ts'
export type { Identity, InspectionOptions, RefusalAnswer, Rendering } from './inspection/inspection-options.ts'
export type { ChallengeOptions } from './inspection/step-up.ts'
export {
  challenge,
  type Handler,
  type Inspected,
  listener,
  type NodeRequest,
  type NodeResponse,
  type V1Options,
  v1,
} from './listener.ts'
export { open } from './open.ts'
export { type HandoffRequest, verifyHandoff } from './verify-handoff.ts'
