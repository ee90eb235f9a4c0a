import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { browserFields } from '../browser.ts'
import { questionOf, solve } from '../challenge/solve.ts'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { type Place, withScene } from './proxy/scene.ts'

const SECONDS = numberFlag('people-seconds', 60)
/** Behind each address, within that time, with the same browser. */
const PEOPLE = 40
/** The pauses of those who send wrong solutions, one for ever on one challenge, the other a new one each time. */
const WRONG_MS = [2_000, 200]
const ADDRESSES: Readonly<Record<string, string>> = {
  'an exit of a VPN': '45.83.220.10',
  'an address of an office': '93.184.216.34',
  'a network of IPv6': '2a02:8106:1:2::3',
}
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }],
} as const

interface Got {
  readonly status: number
  readonly body: string
  readonly cookie: string
}

/** Asks as a browser behind an address does. */
async function ask(url: string, address: string, method: string, more: readonly string[] = []): Promise<Got> {
  const isPage = method === 'GET'
  const fields = browserFields(address).map((field) => (field === 'none' && !isPage ? 'same-origin' : field))
  const headers = [...fields.slice(0, -2), ...more]
  const sent = request(new URL(isPage ? '/' : '/.sallyport/pass', url), {
    method,
    headers,
    agent: false,
  }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const cookie = (answer.headers['set-cookie'] ?? [''])[0]?.split(';', 1)[0] ?? ''
  return { status: answer.statusCode ?? 0, body: await text(answer), cookie }
}

/** People behind one address beside others there who send wrong solutions: each of the people earns a pass at the first try. */
export async function faultChallenged(place: Place): Promise<Measured> {
  const raised = { trustProxy: ['loopback'], policy: { ...POLICY, rules: [...POLICY.rules] } }
  return withScene(place, { raised }, async ({ proxy: { url } }) => {
    const rows: Record<string, Record<string, number>> = {}
    const broken: string[] = []

    async function sendWrong(address: string, pauseMs: number, until: Promise<unknown>): Promise<number> {
      let [sent, isOver] = [0, false]
      void until.then(() => (isOver = true))
      let { text: challenge } = questionOf((await ask(url, address, 'GET')).body)
      for (; !isOver; sent++) {
        await ask(url, address, 'POST', [
          'Sallyport-Solution',
          `${challenge}.${Array(32).fill(sent).join(',')}`,
          'Content-Length',
          '0',
        ])
        if (pauseMs < 1_000) challenge = questionOf((await ask(url, address, 'GET')).body).text
        await delay(pauseMs)
      }
      return sent
    }

    /** Statuses of the page, the solution, and the page with the pass. */
    async function visit(address: string, at: number): Promise<string> {
      await delay((at * SECONDS * 1_000) / PEOPLE)
      const page = await ask(url, address, 'GET')
      const solution = solve(questionOf(page.body))
      const given = await ask(url, address, 'POST', ['Sallyport-Solution', solution, 'Content-Length', '0'])
      const { status } = await ask(url, address, 'GET', ['Cookie', given.cookie])
      return [page.status, given.status, status].join()
    }

    async function behind(name: string, address: string): Promise<void> {
      const visits = Promise.all(Array.from({ length: PEOPLE }, (_, at) => visit(address, at)))
      const wrong = WRONG_MS.map((pauseMs) => sendWrong(address, pauseMs, visits))
      const people = await visits
      const passes = people.filter((statuses) => statuses === '403,204,200').length
      const sent = (await Promise.all(wrong)).reduce((sum, one) => sum + one, 0)
      rows[name] = { people: PEOPLE, passes, 'wrong solutions': sent }
      const others = [...new Set(people.filter((statuses) => statuses !== '403,204,200'))]
      if (passes < PEOPLE) broken.push(`${name}: ${PEOPLE - passes} of ${PEOPLE} had ${others.join(' or ')}`)
    }

    await Promise.all(Object.entries(ADDRESSES).map(([name, address]) => behind(name, address)))
    console.log(`\n${PEOPLE} people behind each of ${Object.keys(ADDRESSES).length} addresses within ${SECONDS} s`)
    console.table(rows)
    const all = Object.values(rows)
    const sum = (key: string): number => all.reduce((total, row) => total + (row[key] ?? 0), 0)
    return {
      measured: `${sum('passes')} of ${sum('people')} have passes beside ${sum('wrong solutions')} wrong solutions`,
      broken,
    }
  })
}
