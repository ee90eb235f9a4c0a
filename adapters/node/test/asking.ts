import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { compilePolicy, createChallengeSecrets, createChallenges, createInspector, parseTrust } from '@sallyport/core'
import { createFakeClock, createFakeCounts, makeSnapshots } from '@sallyport/core/testing'
import type { Test } from 'tap'
import { guardUpgrade } from '../src/guard-upgrade.ts'
import { listener } from '../src/listener.ts'
import type { ChallengePage, RefusalPage } from '../src/request/request-host.ts'
import { serve } from './support.ts'

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** A reader's browser sends these fields when it navigates over plain HTTP. */
export const NAVIGATION = { 'user-agent': FIREFOX, accept: HTML, 'accept-language': 'en' }

const CLIENT = '93.184.216.34'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server whose policy asks for a pass of level 1 everywhere, of level 2 below `/puzzle`, and of script below `/script`. */
export async function openAskingSite(
  t: Test,
  {
    challenge = { path: '/.sallyport' },
    refusal = {},
  }: { readonly challenge?: ChallengePage | undefined; readonly refusal?: RefusalPage | undefined } = {},
) {
  const clock = createFakeClock('2026-11-01T00:00:00Z')
  const challenges = createChallenges({
    secrets: createChallengeSecrets(['a secret of these tests, long enough']),
    counts: createFakeCounts(clock),
    clock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  })
  const policy = compilePolicy({
    preset: 'observe',
    rules: [
      { id: 'closed', match: { path: ['/closed'] }, action: 'block' },
      { id: 'script', match: { path: ['/script'] }, action: 'challenge', challenge: { level: 2, script: 'required' } },
      { id: 'work', match: { path: ['/puzzle', '/puzzle/**'] }, action: 'challenge', challenge: { level: 2 } },
      { id: 'wait', match: { not: { path: ['/open'] } }, action: 'challenge' },
    ],
  })
  const trust = parseTrust(['loopback'])
  const { findPass } = challenges
  const inspector = createInspector({ clock, snapshots: makeSnapshots(), trust, policy, mode: 'enforce', findPass })
  const decider = { ...inspector, challenges, config: { challenge }, refusalPage: refusal }
  const seen: string[] = []
  const port = await serve(
    t,
    listener(decider, (req, res) => {
      seen.push(req.url ?? '')
      res.end('hello')
    }),
    (server) => {
      guardUpgrade(server, decider)
      server.on('upgrade', ({ url = '' }, socket) => {
        seen.push(url)
        socket.destroy()
      })
    },
  )
  return {
    clock,
    /** Targets that the application behind saw. */
    seen,
    /** Takes all questions that this client may have at once. */
    exhaust() {
      while (challenges.admits({ address: CLIENT }));
    },
    async ask(target: string, headers: Readonly<Record<string, string>> = NAVIGATION, method = 'GET'): Promise<Answer> {
      const fields = { host: 'shop.example', 'x-forwarded-for': CLIENT, ...headers }
      const sent = request({ port, host: '127.0.0.1', path: target, method, headers: fields, agent: false }).end()
      const [answer] = await once(sent, 'response')
      return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
    },
  }
}

/** Returns the name and value of the only cookie that an answer sets. */
export function readCookie({ headers }: Answer): string {
  const [cookie = '', ...more] = headers['set-cookie'] ?? []
  if (more.length > 0) throw new Error(`more than one cookie: ${more}`)
  return cookie.split(';', 1)[0] as string
}

export function readData({ body }: Answer, name: string): string {
  return new RegExp(` data-${name}="([^"]*)"`).exec(body)?.[1] ?? ''
}

export function solve(page: Answer): string {
  const [puzzles, bits] = [Number(readData(page, 'puzzles')), Number(readData(page, 'bits'))]
  return solveDetails({ challenge: readData(page, 'challenge'), puzzles, bits })
}

export function solveDetails(details: { challenge: string; puzzles: number; bits: number }): string {
  const { challenge, puzzles, bits } = details
  const seed = Buffer.from(challenge, 'base64url').subarray(-32)
  const numbers = Array.from({ length: puzzles }, (_, place) => {
    const block = Buffer.concat([seed, Buffer.alloc(8)])
    block.writeUInt32BE(place, 32)
    for (let number = 0; ; number++) {
      block.writeUInt32BE(number, 36)
      const hash = createHash('sha256').update(block).digest()
      if (hash.readUInt32BE() >>> (32 - bits) === 0) return number
    }
  })
  return `${challenge}.${numbers.join(',')}`
}
