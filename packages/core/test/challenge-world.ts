import { createHash, randomBytes } from 'node:crypto'
import { createChallenges } from '../src/challenge/challenges.ts'
import { createChallengeSecrets } from '../src/challenge/secrets.ts'
import type { AskedFor, ChallengesOptions } from '../src/challenge/terms.ts'
import { createFakeCounts } from '../src/testing/fakes.ts'
import type { ChallengeLevel, InspectedPass } from '../src/values/challenge.ts'
import type { InspectionRequest } from '../src/values/request.ts'

export const SECRET = 'a secret of these tests, long enough'
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'

export const HOME = { address: '203.0.113.7', network: 'residential_clean' } as const

/** Challenges by a clock that stands until it is set. */
export function world(
  options: Partial<ChallengesOptions> & { readonly secretTexts?: readonly string[] | undefined } = {},
) {
  const clock = { time: 1_790_000_000_000, now: () => clock.time }
  const challenges = createChallenges({
    secrets: createChallengeSecrets(options.secretTexts ?? [SECRET]),
    counts: createFakeCounts(clock),
    clock,
    random: randomBytes,
    ...options,
  })
  return { clock, challenges }
}

interface Described {
  readonly host?: string | undefined
  readonly userAgent?: string | undefined
  readonly ja4?: string | undefined
  readonly cookie?: string | undefined
}

export function makeRequest({
  host = 'shop.example',
  userAgent = FIREFOX,
  ja4,
  cookie,
}: Described = {}): InspectionRequest {
  return {
    peer: '203.0.113.7',
    method: 'GET',
    target: '/',
    scheme: 'https',
    httpVersion: '1.1',
    fields: ['Host', host, 'User-Agent', userAgent, ...(cookie === undefined ? [] : ['Cookie', cookie])],
    ja4,
  }
}

export function askedFor(level: ChallengeLevel, more: Partial<AskedFor['terms']> = {}, pass?: InspectedPass): AskedFor {
  return { terms: { level, passMs: 43_200_000, script: false, ...more }, rule: 'ask', pass }
}

/** The solution of a challenge, found as a page finds it. */
export function solve({ text, puzzles, bits }: { text: string; puzzles: number; bits: number }): string {
  const seed = Buffer.from(text, 'base64url').subarray(-32)
  const numbers = Array.from({ length: puzzles }, (_, place) => {
    const block = Buffer.concat([seed, Buffer.alloc(8)])
    block.writeUInt32BE(place, 32)
    for (let number = 0; ; number++) {
      block.writeUInt32BE(number, 36)
      if (createHash('sha256').update(block).digest().readUInt32BE() >>> (32 - bits) === 0) return number
    }
  })
  return `${text}.${numbers.join(',')}`
}
