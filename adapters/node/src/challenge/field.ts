import type { ChallengeLevel, Challenges, Decision } from '@sallyport/core'
import { isFormAction } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { createChooser } from '../answer/languages.ts'
import { refusal, rendered } from '../answer/refusal.ts'
import { readHead, readSite } from '../request/head-fields.ts'
import { splitTarget } from '../request/mounted-path.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import { CHALLENGE_TEXTS } from './page-texts.ts'

/** A client at the first probability or above gets the most work; at the second or above it gets more than a person's browser. */
const LIKELY = 0.7
const POSSIBLE = 0.2

/** Answers `field` with the puzzles of a form; the verdict about the client sets the amount of work. */
export function fieldAnswer(challenges: Challenges, head: ReceivedHead, decision: Decision): ApiResponse {
  const { id, target, fields } = head
  const action = splitTarget(target).query.get('action')
  if (!isFormAction(action)) {
    const message = 'action: name the action of the form, with 1 to 64 characters of A-Z a-z 0-9 . _ : / -'
    return rendered(refusal('invalid_request', 400, message), { id })
  }
  const named = readHead(fields)
  const sender = { host: readSite(named) ?? '', userAgent: named.userAgent ?? '' }
  const puzzles = challenges.forms.issue(sender, action, formLevel(decision))
  const lang = createChooser(fields)(Object.keys(CHALLENGE_TEXTS))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  }
  return { status: 200, headers, body: JSON.stringify({ ...puzzles, text: CHALLENGE_TEXTS[lang]?.title }) }
}

function formLevel({ action, inspection: { agent } }: Decision): ChallengeLevel {
  if (action === 'challenge' || agent.botProbability >= LIKELY) return 3
  return agent.botProbability >= POSSIBLE ? 2 : 1
}
