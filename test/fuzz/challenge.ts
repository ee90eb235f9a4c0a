import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChallengeSecrets, createChallenges, type InspectionRequest } from '@sallyport/core'
import { createFakeClock, createFakeCounts } from '@sallyport/core/testing'
import { open } from '@sallyport/engine'
import fc from 'fast-check'
import { solutionTo } from '../hosts/solution.ts'
import { NO_DATA } from '../no-data.ts'
import { mutatedText } from './mutations.ts'
import { type FuzzTarget, fuzzTarget, inTime } from './target.ts'

/* Inputs of a challenge: nothing throws or hangs, and no visitor has a pass without a genuine token. */

const SECRETS = createChallengeSecrets(['a secret of this target, long enough for anybody'])
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const CLIENT = { address: '203.0.113.7', network: 'residential_clean' } as const
const START = '2026-11-28T00:00:00Z'

function makeRequest(more: readonly string[], host = 'site.example', agent = AGENT): InspectionRequest {
  const fields = ['Host', host, 'User-Agent', agent, ...more]
  return { peer: CLIENT.address, method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1', fields }
}

const makeAsked = (level: 1 | 2 | 3) => ({
  terms: { level, passMs: 43_200_000, script: false },
  rule: 'ask',
  pass: undefined,
})

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
interface Tossed {
  readonly name: string
  readonly value: string
  readonly apart: boolean
}

const NAMES = ['__Host-sallyport', 'sallyport', '__Host-sallyport-challenge', 'sallyport-challenge', 'session']

const cookies = fuzzTarget<readonly Tossed[]>('cookies of a challenge', async () => {
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
  const tossed = fc.record({
    name: fc.oneof(fc.constantFrom(...NAMES), mutatedText(NAMES)),
    value,
    apart: fc.boolean(),
  })
  return {
    inputs: fc.array(tossed, { maxLength: 12 }),
    async check(input) {
      const lines: string[] = []
      for (const { name, value, apart } of input) {
        if (apart || lines.length === 0) lines.push(`${name}=${value}`)
        else lines.push(`${lines.pop()}; ${name}=${value}`)
      }
      const request = makeRequest(lines.flatMap((line) => ['Cookie', line]))
      const isPassed = (text: string): boolean =>
        lines.some((line) => line.split(/[;=]/).some((part) => part.trim() === text))
      const { clock, challenges } = challengesAt()
      const held = inTime('passes', () => challenges.passOf(request, 'residential_clean', clock.now()))
      if (held !== undefined && !isPassed(pass)) throw new Error(`a pass of level ${held.level} without a token`)
      const hasWaited = inTime('challenges', () => challenges.hasWaited(request, makeAsked(1)))
      const given = await challenges.redeemWaited(request, makeAsked(1), CLIENT)
      if ('refused' in given === hasWaited) throw new Error(`waited: ${hasWaited}, ${JSON.stringify(given)}`)
      if (hasWaited && !isPassed(challenge)) throw new Error('a pass without a challenge')
      // Values are solutions as well, of no challenge.
      for (const { value } of input) {
        const solved = await challenges.redeem(makeRequest([]), `${value}.1,2`, CLIENT)
        if (!('refused' in solved)) throw new Error(`a pass for ${value}`)
      }
    },
    close() {},
  }
})

const ANSWERS = [
  '{"success":true}',
  '{"success":false,"error-codes":["invalid-input-response"]}',
  '{"success":true,"challenge_ts":"2026-11-28T00:00:00Z","hostname":"site.example","error-codes":[]}',
  '{"success":"true"}',
  '{"success":false,"success":true}',
  '[{"success":true}]',
  '{"success":false,"error-codes":["internal-error"],"error":"secret"}',
  'null',
  '<!doctype html><title>success: true</title>',
]

/** The provider sends this answer about a token. */
interface Answered {
  readonly status: number
  readonly body: string
  readonly token: string
}

const providers = fuzzTarget<Answered>('answers of a challenge provider', async () => {
  let said: Answered = { status: 200, body: '', token: '' }
  const server = createServer((_, response) => response.writeHead(said.status).end(said.body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-fuzz-'))
  const clock = createFakeClock(START)
  const provider = { kind: 'cap', url: origin, siteKey: 'k', secret: 's' } as const
  const config = {
    dataDir: folder,
    data: { refresh: false, sources: NO_DATA },
    net: { allowPrivate: ['127.0.0.0/8'] },
    challenge: { provider },
  }
  const sallyport = await open(config, { clock, onFault: () => {} })
  let visitor = 0
  return {
    inputs: fc.record({
      status: fc.constantFrom(200, 200, 200, 201, 302, 400, 404, 429, 500),
      body: fc.oneof(fc.constantFrom(...ANSWERS), mutatedText(ANSWERS)),
      token: fc.oneof(fc.stringMatching(/^[!-~]{1,40}$/), fc.string()),
    }),
    async check(input) {
      said = input
      // So long that a provider which was away is asked again.
      clock.advance(61_000)
      const { challenges } = sallyport
      const issued = challenges.issue(makeRequest([]), makeAsked(3), true)
      if (issued.widget === undefined) throw new Error('the provider does not challenge')
      const client = { ...CLIENT, address: `198.51.${(++visitor >> 8) & 255}.${visitor & 255}` }
      const token = `${visitor}${input.token}`
      const began = performance.now()
      const given = await challenges.redeem(makeRequest([]), `${issued.text}.${token}`, client)
      const took = performance.now() - began
      if (took > 4_000) throw new Error(`it took ${Math.round(took)} ms`)
      if (!('refused' in given) && !isYes(input)) throw new Error(`a pass for ${input.status} ${input.body}`)
      if ('refused' in given && given.refused === 'failed') throw new Error('it threw')
    },
    async close() {
      await sallyport.close()
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

function isYes({ status, body }: Answered): boolean {
  if (status === 429 || status >= 500) return false
  try {
    return JSON.parse(body).success === true
  } catch {
    return false
  }
}

/** Lists inputs of a challenge: from visitors, and from its provider. */
export const CHALLENGE: readonly FuzzTarget[] = [cookies, providers]
