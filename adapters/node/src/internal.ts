/* Building blocks for the adapters and the proxy: names here may change in any release. */

export { escapeHtml } from './answer/page-parts.ts'
export { isForCaches, privateControl } from './answer/private-answer.ts'
export { callRefusal, decisionRefusal, legalRefusal, type Refusal, refusal, rendered } from './answer/refusal.ts'
export { isWhole, sendResponse } from './answer/send-response.ts'
export { responseOn } from './answer/upgrade-response.ts'
export { isReserved, VERDICT_NAMES, verdictFields, withVerdict } from './answer/verdict-headers.ts'
export { answer, answerApi, answerCheckedApi, hostBody, isApiPath, requireApi } from './api-answer.ts'
export { askingAnswer, isAsking } from './challenge/challenge-answer.ts'
export { renewedCookie } from './challenge/cookies.ts'
export { askedAs } from './challenge/navigation.ts'
export { PAGE } from './challenge/places.ts'
export type { Outcome } from './decider.ts'
export { type AnsweredFields, Exchange, type HostResponse, type Receiver } from './exchange.ts'
export { answer as answerPhase, answerKeyDirectory, decide, inspect, route } from './host-phases.ts'
export { createInspection } from './inspection/create-inspection.ts'
export { createStepUp, stepUpPolicy } from './inspection/step-up.ts'
export { clientAddress, Observation } from './observation.ts'
export {
  type Answered,
  createPipeline,
  PHASES,
  type PhaseEvent,
  type PhaseName,
  type PhaseTable,
} from './phases.ts'
export { NODE, type NodePlace, receive, receiveExchange } from './receive.ts'
export { absoluteTarget, isSite, namesSite } from './request/absolute-target.ts'
export { noteJa4, writeJa4 } from './request/connection-ja4.ts'
export { foldedName } from './request/folded-name.ts'
export {
  checkHostNamed,
  type HeadFault,
  headFault,
  NO_HOST,
  NO_PATH,
  nominated,
  OTHER_SITE,
  type Paths,
  type RequestHead,
} from './request/head-fault.ts'
export { type HeadFields, readHead } from './request/head-fields.ts'
export { INSECURE, isSecured } from './request/insecure-target.ts'
export { declaresTooMuch, readJson } from './request/json-body.ts'
export { stopParsingWhenEnded } from './request/last-request.ts'
export { mountedPath, trimBase } from './request/mounted-path.ts'
export type { ReceivedHead } from './request/node-head.ts'
export { hasArrived, parsedBody, readAhead } from './request/read-ahead.ts'
export type { RequestHost } from './request/request-host.ts'
export { ID_HEADER, newId } from './request/request-id.ts'
export { closingUnread } from './request/unread-body.ts'
export { asksForWebSocket, ignoreOtherUpgrades } from './request/upgrades.ts'
export { createShown } from './shown-decision.ts'
