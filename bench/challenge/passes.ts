import {
  type AskedFor,
  type Challenges,
  type Clock,
  createChallengeSecrets,
  createChallenges,
  type InspectionRequest,
} from '@sallyport/core'
import { createRandom } from '@sallyport/engine'
import { addCookies, browserFields, makeRequest } from '../browser.ts'

export const SECRET = 'a secret of this bench, as long as it has to be'
export const CLIENT = { address: '203.0.113.7', network: 'unknown' } as const

export const ASKED: AskedFor = { terms: { level: 2, passMs: 43_200_000, script: false }, rule: 'ask', pass: undefined }

/** Challenges without a store: its counts allow everything at once. */
export function withoutStore(clock: Clock): Challenges {
  const state = { allowed: true, used: 1, resetMs: 60_000 }
  return createChallenges({
    secrets: createChallengeSecrets([SECRET]),
    counts: { take: (tasks) => ({ states: tasks.map(() => state) }), leave: () => {} },
    clock,
    random: createRandom(),
  })
}

/** The request of a browser, with more cookies than it has anyway. */
export function requestWith(cookie?: string): InspectionRequest {
  const fields = browserFields(CLIENT.address)
  const sent = cookie === undefined ? fields : addCookies(fields, cookie)
  return makeRequest({ peer: CLIENT.address, scheme: 'https', fields: sent })
}

/** Makes passes of level 2, as the service gives them to a browser that waited. */
export async function makePasses(count: number): Promise<readonly string[]> {
  const clock = { ahead: -10_000, now: () => Date.now() + clock.ahead }
  const challenges = withoutStore(clock)
  const issued = Array.from({ length: count }, () => challenges.issue(requestWith(), ASKED, true))
  clock.ahead = 0
  const given = issued.map(({ text }) =>
    challenges.redeemWaited(requestWith(`sallyport-challenge=${text}`), ASKED, CLIENT),
  )
  return (await Promise.all(given)).map((redeemed) => {
    if ('refused' in redeemed) throw new Error(redeemed.refused)
    return redeemed.pass
  })
}
