/* Building blocks for the adapters and the proxy: names here may change in any release. */

export { escapeHtml } from './answer/page-parts.ts'
export { isForCaches, privateControl } from './answer/private-answer.ts'
export { callRefusal, decisionRefusal, legalRefusal, type Refusal, refusal, rendered } from './answer/refusal.ts'
export { isWhole, sendResponse } from './answer/send-response.ts'
export { responseOn } from './answer/upgrade-response.ts'
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
export { NODE, type NodePlace, noteJa4, receive, receiveExchange, writeJa4 } from './receive.ts'
export {
  absoluteTarget,
  asksForWebSocket,
  checkHostNamed,
  type HeadFault,
  headFault,
  isSite,
  NO_HOST,
  NO_PATH,
  namesSite,
  nominated,
  OTHER_SITE,
  type Paths,
  type RequestHead,
} from './request/head-fault.ts'
export { type HeadFields, readHead } from './request/head-fields.ts'
export { INSECURE, isSecured } from './request/insecure-target.ts'
export { declaresTooMuch, readJson } from './request/json-body.ts'
export { mountedPath, trimBase } from './request/mounted-path.ts'
export type { ReceivedHead } from './request/node-head.ts'
export { ignoreOtherUpgrades, stopParsingWhenEnded } from './request/node-parser.ts'
export { hasArrived, parsedBody, readAhead } from './request/read-ahead.ts'
export type { RequestHost } from './request/request-host.ts'
export { ID_HEADER, newId } from './request/request-id.ts'
export { closingUnread } from './request/unread-body.ts'
export { foldedName, isReserved, VERDICT_NAMES, verdictFields, withVerdict } from './request/verdict-headers.ts'
export { createShown } from './shown-decision.ts'
