import { createChallengeSecrets, createChallenges, type InspectionRequest } from '@sallyport/core'
import { createFakeClock, createFakeCounts } from '@sallyport/core/testing'
import fc from 'fast-check'
import { solutionTo } from '../hosts/solution.ts'
import { mutatedText } from './mutations.ts'
import { fuzzTarget, inTime } from './target.ts'

/* Inputs of a challenge: nothing throws or hangs, and no visitor has a pass without a genuine token. */

const SECRETS = createChallengeSecrets(['a secret of this target, long enough for anybody'])
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const CLIENT = { address: '203.0.113.7', network: 'residential_clean' } as const
const START = '2026-11-28T00:00:00Z'

function makeRequest(more: readonly string[], host = 'site.example', agent = AGENT): InspectionRequest {
  const fields = ['Host', host, 'User-Agent', agent, ...more]
  return { peer: CLIENT.address, method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1', fields }
}

const makeAsked = (level: 1 | 2) => {
  return { terms: { level, passMs: 43_200_000, script: false }, rule: 'ask', pass: undefined }
}

/** Challenges at a time of their own, with counts that know nothing. */
function challengesAt(ahead = 0, secrets = SECRETS) {
  const clock = createFakeClock(START)
  clock.advance(ahead)
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const challenges = createChallenges({ secrets, counts: createFakeCounts(clock), clock, random })
  return { clock, challenges }
}

async function earnPass(ahead: number, secrets = SECRETS, request = makeRequest([])): Promise<string> {
  const { challenges } = challengesAt(ahead, secrets)
  const { text, puzzles, bits } = challenges.issue(request, makeAsked(2))
  const given = await challenges.redeem(request, solutionTo({ challenge: text, puzzles, bits }), CLIENT)
  if ('refused' in given) throw new Error(given.refused)
  return given.pass
}

/** One cookie of a request: a name and a value, and whether a field of its own has it. */
type Tossed = readonly [name: string, value: string, isApart: boolean]

const NAMES = ['__Host-sallyport', 'sallyport', '__Host-sallyport-challenge', 'sallyport-challenge', 'session']

export const cookies = fuzzTarget<readonly Tossed[]>('cookies of a challenge', async () => {
  const pass = await earnPass(-60_000)
  const challenge = challengesAt(-2_000).challenges.issue(makeRequest([]), makeAsked(1)).text
  const genuine = new Set([pass, challenge])
  const others = createChallengeSecrets(['a secret of somebody else, as long as the other'])
  const seeds = [
    ...genuine,
    await earnPass(-90_000_000),
    await earnPass(600_000),
    await earnPass(-60_000, others),
    await earnPass(-60_000, SECRETS, makeRequest([], 'other.example')),
    await earnPass(-60_000, SECRETS, makeRequest([], 'site.example', 'curl/8.9')),
    challengesAt(-2_000, others).challenges.issue(makeRequest([]), makeAsked(1)).text,
    challengesAt(-400_000).challenges.issue(makeRequest([]), makeAsked(1)).text,
    `${pass}${challenge}`,
    '',
  ]
  const value = fc.oneof(fc.constantFrom(...seeds), mutatedText(seeds))
  const tossed = fc.tuple(fc.oneof(fc.constantFrom(...NAMES), mutatedText(NAMES)), value, fc.boolean())
  return {
    inputs: fc.array(tossed, { maxLength: 12 }),
    async check(input) {
      const lines: string[] = []
      for (const [name, value, isApart] of input) {
        const before = isApart ? undefined : lines.pop()
        lines.push(`${before === undefined ? '' : `${before}; `}${name}=${value}`)
      }
      const request = makeRequest(lines.flatMap((line) => ['Cookie', line]))
      const isPassed = (text: string): boolean =>
        lines.some((line) => line.split(/[;=]/).some((part) => part.trim() === text))
      const { clock, challenges } = challengesAt()
      const held = inTime('passes', () => challenges.findPass(request, 'residential_clean', clock.now()))
      if (held !== undefined && !isPassed(pass)) throw new Error(`a pass of level ${held.level} without a token`)
      const hasWaited = inTime('challenges', () => challenges.hasWaited(request, makeAsked(1)))
      const given = await challenges.redeemWaited(request, makeAsked(1), CLIENT)
      if ('refused' in given === hasWaited) throw new Error(`waited: ${hasWaited}, ${JSON.stringify(given)}`)
      if (hasWaited && !isPassed(challenge)) throw new Error('a pass without a challenge')
      // Values are solutions as well, of no challenge.
      for (const [, value] of input) {
        const solved = await challenges.redeem(makeRequest([]), `${value}.1,2`, CLIENT)
        if (!('refused' in solved)) throw new Error(`a pass for ${value}`)
      }
    },
  }
})
