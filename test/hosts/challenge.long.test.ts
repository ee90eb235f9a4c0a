import type { Decision } from '@sallyport/core'
import t from 'tap'
import { earnPass, givenBefore, readCookie, readSolution, redeem, SECRET, visit } from './challenge-client.ts'
import { ASK_ALL, ASKING, everyGate, everyHost, startHost } from './every-host.ts'
import { type AnyOptions, HOSTS } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

/* A rule that asks everybody, in every host: the page, its answers, the pass, and who is never asked. */
const WAITING = { policy: { preset: 'observe' as const, rules: [{ ...ASK_ALL, challenge: { level: 1 } as const }] } }
const MONITORED = {
  mode: 'monitor' as const,
  policy: { preset: 'observe' as const, rules: [{ ...ASK_ALL, match: { path: ['/shop'] } }] },
  challenge: { secret: SECRET },
}
/** Lists hosts whose mounts have options. */
const MOUNTS = HOSTS.filter(({ hasNoOptions }) => !hasNoOptions)

const siteSaw = (body: string): Record<string, string> => JSON.parse(body).headers

everyGate('work: the page, a solution by POST, and the site with the pass', ASKING, async (t, at) => {
  const page = await visit(at)
  t.equal(page.status, 403)
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex',
    vary: /Cookie/,
  })
  t.match(page.body, /data-challenge="[\w-]{96}" data-puzzles="32"/)
  t.match(page.headers['set-cookie'], /^sallyport-challenge=[\w-]{96}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/)
  const solution = readSolution(page)
  const given = await redeem(at, solution)
  t.match([given.status, given.body, given.headers['sallyport-pass']], [204, '', '2'])
  t.match(given.headers['set-cookie'], /^sallyport=[\w-]{52}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
  const seen = await visit(at, { cookie: `a=b; ${readCookie(given)}` })
  t.equal(seen.status, 200)
  t.match(siteSaw(seen.body), { 'sallyport-action': 'allow', 'sallyport-pass': '2' })
  t.notOk(seen.headers['set-cookie'], 'nothing is set or cleared that the request did not bring')
  const again = await redeem(at, solution)
  t.match([again.status, JSON.parse(again.body).details.reason], [403, 'spent'])
  const by = await redeem(at, readSolution(await visit(at)), { method: 'GET', target: '/shop?item=1' })
  t.equal(by.status, 204, 'by GET to the wanted URL')
  t.match(readCookie(by), /^sallyport=/)
})

everyGate('waiting: the cookie comes back to the wanted URL, once', WAITING, async (t, at) => {
  const page = await visit(at)
  t.match(page.body, /http-equiv="refresh" content="1;url=\?item=1&amp;sallyport-again=1"/)
  t.notMatch(page.body, /<script/)
  const cookie = readCookie(page)
  t.equal((await visit(at, { cookie })).status, 403, 'too early')
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  const back = await visit(at, { cookie, target: '/shop?item=1&sallyport-again=1' })
  t.match([back.status, back.headers['location'], back.body], [303, '/shop?item=1', ''])
  const seen = await visit(at, { cookie: `${cookie}; ${readCookie(back)}` })
  t.match([seen.status, siteSaw(seen.body)['sallyport-pass']], [200, '1'])
  t.equal((await visit(at, { cookie })).status, 403, 'spent')
})

everyHost('monitor mode asks nobody, and says what would have been', MONITORED, async (t, at) => {
  const brought = await givenBefore(7)
  const { status, body, headers } = await visit(at)
  t.equal(status, 200)
  t.match(siteSaw(body), { 'sallyport-action': 'challenge', 'sallyport-enforced': 'false' })
  t.notOk(headers['set-cookie'])
  for (const target of ['/.sallyport/pass?to=/shop', '/.sallyport/pass.js', '/shop?sallyport-again=1']) {
    const answer = await visit(at, { target, cookie: brought })
    t.equal(answer.status, 200, target)
    t.equal(JSON.parse(answer.body).target, target, `the site answers ${target}`)
  }
  const asked = await visit(at, { target: '/.sallyport/pass?to=/shop' })
  t.match(siteSaw(asked.body), { 'sallyport-action': 'allow' }, 'by its own path, and not by the one it leads to')
  const answer = await redeem(at, `${'A'.repeat(96)}.1,2`, { method: 'GET', target: '/shop', cookie: brought })
  const { 'sallyport-pass': pass, 'set-cookie': cookie } = answer.headers
  t.match([answer.status, pass, cookie], [200, undefined, undefined])
})

t.test('options of a mount: its own policy, skip, respond and mode', async (t) => {
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [] } })
  const policy = [ASK_ALL]
  for (const host of MOUNTS) {
    for (const [options, status, shown] of [
      [{ policy, respond: () => ({ status: 418, body: 'mine' }) }, 403, /data-challenge/],
      [{ policy, skip: () => true }, 200, /"target"/],
      [{ policy, mode: 'monitor' }, 200, /"target"/],
    ] as readonly (readonly [AnyOptions, number, RegExp])[]) {
      const answer = await visit(await startHost(t, host, sallyport, options))
      t.match([answer.status, answer.body], [status, shown], host.name)
    }
  }
})

t.test('an application reads the pass, and who is asked is not attested before', async (t) => {
  for (const host of MOUNTS) {
    const sallyport = await openWithoutData(t, ASKING)
    let decided: Decision | undefined
    const onDecision = (decision: Decision): void => {
      decided = decision
    }
    const at = await startHost(t, host, sallyport, { onDecision, provenance: { claim: () => 'US' } })
    const cookie = await earnPass(at)
    t.equal((await visit(at, { method: 'POST', body: 'a=b' })).status, 403)
    t.equal(await sallyport.provenance.status(), undefined, 'nothing was let in, and no ledger was made')
    const { status, body } = await visit(at, { cookie })
    t.match([status, siteSaw(body)['sallyport-attestation-id']], [200, /^\d+$/], host.name)
    t.match(decided?.inspection.pass, { id: /^[\w-]{11}$/, level: 2, age: Number })
  }
})

everyHost('over HTTPS behind a trusted proxy the cookie is of the host alone', ASKING, async (t, at) => {
  const more = ['X-Forwarded-Proto', 'https']
  const page = await visit(at, { more })
  t.match(page.headers['set-cookie'], /^__Host-sallyport-challenge=.*; Path=\/;.*; Secure$/)
  t.match(await earnPass(at, { more }), /^__Host-sallyport=/)
})
