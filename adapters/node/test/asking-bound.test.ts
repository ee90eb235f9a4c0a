import t from 'tap'
import { askingAnswer } from '../src/challenge/challenge-answer.ts'
import type { ReceivedHead } from '../src/request/node-head.ts'
import type { RequestHost } from '../src/request/request-host.ts'
import { NAVIGATION, openAskingSite, readCookie, solve } from './asking.ts'

t.test('beyond its share a client gets a few bytes, and no question; all others go on', async (t) => {
  const { ask, clock, exhaust } = await openAskingSite(t)
  const page = await ask('/puzzle')
  const solution = solve(page)
  t.equal((await ask('/shop')).status, 403)
  exhaust()
  const refused = await ask('/shop')
  t.match(refused, { status: 429, headers: { 'retry-after': '1', 'cache-control': 'no-store' } })
  t.equal(refused.headers['set-cookie'], undefined)
  t.match(JSON.parse(refused.body), { error: 'rate_limit_exceeded' })
  t.ok(refused.body.length < 300)
  t.equal((await ask('/shop', NAVIGATION, 'POST')).status, 429, 'the page of a form is a page')
  const solving = { ...NAVIGATION, 'sallyport-solution': solution }
  t.equal((await ask('/.sallyport/pass', solving, 'POST')).status, 429, 'nor is a solution looked at')
  t.equal((await ask('/open')).body, 'hello', 'what is not asked goes on')
  const other = { ...NAVIGATION, 'x-forwarded-for': '93.184.216.35' }
  t.equal((await ask('/shop', other)).status, 403, 'another client is asked')
  clock.advance(1_000)
  const solved = await ask('/.sallyport/pass', solving, 'POST')
  t.equal(solved.status, 204, 'a second later there is room, and the question is still good')
  const cookie = readCookie(solved)
  exhaust()
  t.equal((await ask('/shop')).status, 429)
  t.equal((await ask('/shop', { ...NAVIGATION, cookie })).body, 'hello', 'who has a pass is not kept')
})

t.test('the connection ends with it, unless it is one of a trusted proxy or of HTTP/2', async (t) => {
  const challenges = { admits: () => false }
  const decision = {
    action: 'challenge',
    enforced: true,
    challenge: { level: 1, passMs: 1, script: false },
    reasons: [{ id: 'policy:ask' }],
    inspection: { client: { address: '93.184.216.34' }, network: { verdict: { classification: 'unknown' } } },
  }
  const answerTo = async (head: Partial<ReceivedHead>, isTrusted: boolean) => {
    const steps: unknown[] = []
    const host = { challenges, isTrusted: () => isTrusted } as unknown as RequestHost
    const fields = Object.entries(NAVIGATION).flat()
    const whole = { id: 'x', peer: '93.184.216.34', method: 'GET', target: '/', fields, ...head } as ReceivedHead
    const answer = await askingAnswer(host, whole, decision as never, (step) => steps.push(step))
    t.match(steps, [{ outcome: 'too_many' }])
    return answer?.headers['connection']
  }
  t.equal(await answerTo({}, false), 'close')
  t.equal(await answerTo({}, true), undefined)
  const fields = [':method', 'GET', ':authority', 'shop.example', ...Object.entries(NAVIGATION).flat()]
  t.equal(await answerTo({ fields }, false), undefined)
})
