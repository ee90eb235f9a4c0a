import type { ChallengeStep, Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { redirectAnswer } from '../answer/redirect.ts'
import { askingAnswer } from '../challenge/challenge-answer.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { RequestHost } from '../request/request-host.ts'

/** Our own answer to a request that is no refusal: a redirect, or a part of a challenge. `undefined` where there is none. */
export function ownAnswer(
  host: RequestHost,
  head: ReceivedHead,
  decision: Decision,
  note: (step: ChallengeStep) => void,
): ApiResponse | Promise<ApiResponse> | undefined {
  return redirectAnswer(decision) ?? askingAnswer(host, head, decision, note)
}
