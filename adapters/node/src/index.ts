export { type ApiHost, type ApiPlace, answer, apiRequest, hostBody, requireApi } from './api-answer.ts'
export { type Attester, attestRequest, type ClaimOptions, claimOf, requireAttester } from './attest-request.ts'
export { clientJa4, noteJa4 } from './connection-ja4.ts'
export { type CountingHost, countRequest } from './count-request.ts'
export { createInspection, type DecisionEvent, type Inspect, type RefusalEvent } from './create-inspection.ts'
export {
  type Decider,
  decideRequest,
  type MountRules,
  type Outcome,
  type Received,
  requireDecider,
} from './decide-request.ts'
export { foldedName } from './folded-name.ts'
export { guardUpgrade } from './guard-upgrade.ts'
export { type HeadFault, headFault, NO_PATH, nominated, type Paths, type RequestHead } from './head-fault.ts'
export { type HeadFields, isHttp2, readHead } from './head-fields.ts'
export type { Identity, InspectionOptions, RefusalAnswer, Rendering } from './inspection-options.ts'
export { inspectionRequest } from './inspection-request.ts'
export { BODY_LIMIT } from './json-body.ts'
export { limitFields } from './limit-fields.ts'
export {
  type Handler,
  type Inspected,
  listener,
  type NodeRequest,
  type NodeResponse,
  type V1Options,
  v1,
} from './listener.ts'
export { baseOf, mountedPath } from './mounted-path.ts'
export { noteDecision, noteOriginal, noteRefusal, type Observation, observe } from './observation.ts'
export { decisionRefusal, type Refusal, type RefusedRequest, refusal, rendered } from './refusal.ts'
export type { LocalText, RefusalPage } from './refusal-page.ts'
export type { RequestHost } from './request-host.ts'
export { ID_HEADER, nameAnswer, requestId } from './request-id.ts'
export { sendResponse } from './send-response.ts'
export { closingUnread } from './unread-body.ts'
export { responseOn } from './upgrade-response.ts'
export { applyVerdict, isReserved, VERDICT_PREFIX, verdictFields, withVerdict } from './verdict-headers.ts'
export { type HandoffRequest, verifyHandoff } from './verify-handoff.ts'
