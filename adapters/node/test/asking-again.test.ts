import t from 'tap'
import { type Answer, NAVIGATION, openAskingSite, readCookie, readData, solve } from './asking.ts'

const AGAIN = '?sallyport-again=1'
const withCookie = (cookie: string) => ({ ...NAVIGATION, cookie })
const comesBack = ({ body }: Answer): boolean => body.includes('http-equiv="refresh"')
const WAITS = 'Waiting time: about 1 second. If you requested a download, it starts and this page stays open.'
const saidBy = ({ body }: Answer): string => /role="status">([^<]*)</.exec(body)?.[1] ?? ''

t.test('who waits is sent on with a pass, and the application never sees our parameter', async (t) => {
  const { ask, clock, seen } = await openAskingSite(t)
  const question = readCookie(await ask('/a/b?c=1'))
  const early = await ask(`/a/b${AGAIN}`, withCookie(question))
  t.same([early.status, saidBy(early), comesBack(early)], [403, WAITS, true])
  t.equal(readCookie(early), question, 'the same question: its wait goes on')
  clock.advance(1000)
  const back = await ask('/a/b?c=1&sallyport-again=1', withCookie(question))
  t.same([back.status, back.headers.location, back.headers['cache-control']], [303, './b?c=1', 'no-store'])
  const pass = readCookie(back)
  t.equal((await ask('/a/b?c=1', withCookie(`${question}; ${pass}`))).body, 'hello')
  const other = await ask(`/a/b${AGAIN}`, withCookie(`${question}; ${pass}`))
  t.same([other.status, other.headers.location, other.headers['set-cookie']], [303, './b', undefined], 'another tab')
  t.match(await ask(`/closed${AGAIN}`), { status: 403, body: /Access denied/ }, 'a refusal stays one')
  t.equal((await ask(`/open${AGAIN}`, NAVIGATION, 'POST')).body, 'hello')
  t.same(seen, ['/a/b?c=1', `/open${AGAIN}`])
})

t.test('refused cookies are said, and the page stays', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  for (const target of ['/', '/puzzle']) {
    const stuck = await ask(`${target}${AGAIN}`)
    t.match(saidBy(stuck), /^Your browser does not accept the cookie that this check needs\. Allow cookies/)
    t.notOk(comesBack(stuck))
    clock.advance(8000)
    const allowed = await ask(`${target}${AGAIN}`, withCookie(readCookie(stuck)))
    t.equal(allowed.status, 303, 'who allows them then follows the link')
  }
  const late = await openAskingSite(t)
  const question = readCookie(await late.ask('/'))
  late.clock.advance(400_000)
  const again = await late.ask(`/${AGAIN}`, withCookie(question))
  t.same([saidBy(again), comesBack(again)], [WAITS, true], 'late, but with its cookie')
  t.not(readCookie(again), question)
})

t.test('two tabs at one time: who comes second is sent on and its question is put away', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  const question = readCookie(await ask('/'))
  clock.advance(1000)
  const tabs = await Promise.all([1, 2].map(() => ask(`/${AGAIN}`, withCookie(question))))
  for (const { status, headers } of tabs) t.same([status, headers.location], [303, './'])
  const [first, second] = tabs.map(readCookie)
  t.match(first, /^sallyport=./)
  t.equal(second, 'sallyport-challenge=')
})

t.test('a refused solution puts its own question away, and no other', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  const page = await ask('/puzzle')
  const question = readCookie(page)
  const solution = solve(page)
  const give = (cookie: string, sent = solution) =>
    ask('/.sallyport/pass', { ...NAVIGATION, 'sallyport-solution': sent, ...(cookie === '' ? {} : { cookie }) }, 'POST')
  const given = await give(question)
  t.same([given.status, given.headers['sallyport-pass']], [204, '2'])
  const spent = await give(question)
  t.same([spent.status, JSON.parse(spent.body).details.reason], [403, 'spent'])
  t.match(spent.headers['set-cookie']?.[0], /^sallyport-challenge=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/)
  t.notOk((await give('')).headers['set-cookie'], 'it was not brought')
  const other = await ask('/puzzle')
  t.notOk((await give(readCookie(other))).headers['set-cookie'], 'another tab waits for another one')
  const wrong = await give(readCookie(other), `${readData(other, 'challenge')}.${Array(32).fill(1)}`)
  t.same([JSON.parse(wrong.body).details.reason, wrong.headers['set-cookie']], ['wrong', undefined])
  clock.advance(400_000)
  const expired = await give(question)
  t.same([JSON.parse(expired.body).details.reason, readCookie(expired)], ['expired', 'sallyport-challenge='])
  const foreign = { 'sallyport-solution': solve(await ask('/puzzle')), 'sec-fetch-site': 'cross-site' }
  const refused = await ask('/puzzle', { ...NAVIGATION, ...foreign })
  t.same([refused.status, refused.headers['sallyport-pass']], [403, 'refused'])
})
