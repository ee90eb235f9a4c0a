import { createHash, randomBytes } from 'node:crypto'
import type { AskedFor, ChallengesOptions, Redeemed } from '../src/challenge/terms.ts'
import { createChallengeSecrets, createChallenges, type InspectionRequest } from '../src/index.ts'
import { createFakeCounts } from '../src/testing/fakes.ts'
import type { ChallengeLevel, InspectedPass } from '../src/values/challenge.ts'

export const SECRET = 'a secret of these tests, long enough'
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'

export const HOME = { address: '203.0.113.7', network: 'residential_clean' } as const

const FROM_HOME = { peer: HOME.address, method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1' } as const

type WorldOptions = Partial<ChallengesOptions> & { readonly secretTexts?: readonly string[] | undefined }

/** Challenges by a clock that stands until it is set. */
export function world(options: WorldOptions = {}) {
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

export type World = ReturnType<typeof world>

type Described = Readonly<Partial<Record<'host' | 'userAgent' | 'ja4' | 'cookie', string | undefined>>>

export function makeRequest({ host = 'shop.example', userAgent = FIREFOX, ja4, cookie }: Described = {}) {
  const fields = ['Host', host, 'User-Agent', userAgent, ...(cookie === undefined ? [] : ['Cookie', cookie])]
  const about: Omit<InspectionRequest, 'fields'> = { ...FROM_HOME, ja4 }
  return { ...about, fields }
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

export function readPass(redeemed: Redeemed): string {
  if ('refused' in redeemed) throw new Error(redeemed.refused)
  return redeemed.pass
}

export async function earnPass({ challenges }: World, passMs = 43_200_000): Promise<string> {
  const issued = challenges.issue(makeRequest(), askedFor(2, { passMs }), true)
  return readPass(await challenges.redeem(makeRequest(), solve(issued), HOME))
}

/** Returns a pass of level 2 that was given for a wait in place of work. */
export async function waitForPass({ challenges, clock }: World, passMs = 43_200_000): Promise<string> {
  const issued = challenges.issue(makeRequest(), askedFor(2, { passMs }), true)
  clock.time += 8_000
  return readPass(await challenges.redeem(makeRequest(), `${issued.text}.`, HOME))
}

/** Reads the pass of a cookie, and renews it where that is due. */
export function seePass({ challenges, clock }: World, value: string) {
  const request = makeRequest({ cookie: `sallyport=${value}` })
  const pass = challenges.findPass(request, 'mobile', clock.now())
  return { pass, renewed: pass && challenges.renew(pass, request) }
}
