import t from 'tap'
import { earnPass, givenBefore, readCookie, readSolution, redeem, SECRET, visit } from './challenge-client.ts'
import { ASK_ALL, everyHost } from './every-host.ts'
import { HOSTS, type Host } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

/* A rule that asks everybody, in every host: the page, its answers, the pass, and who is never asked. */
const ASK_PLAIN = { ...ASK_ALL, challenge: { level: 1 } } as const

const siteSaw = (body: string): Record<string, string> => JSON.parse(body).headers

everyHost('work: the page, a solution by POST, and the site with the pass', [ASK_ALL], async (t, at) => {
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

everyHost('waiting: the cookie comes back to the wanted URL, once', [ASK_PLAIN], async (t, at) => {
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

t.test('monitor mode decides a path of the challenge as that path, and not as the one it leads to', async (t) => {
  const policy = { preset: 'observe' as const, rules: [{ ...ASK_ALL, match: { path: ['/shop'] } }] }
  const sallyport = await openWithoutData(t, { mode: 'monitor', policy, challenge: { secret: SECRET } })
  for (const host of HOSTS) {
    const at = await host.start(sallyport, '')
    const { body } = await visit(at, { target: '/.sallyport/pass?to=/shop' })
    t.match(siteSaw(body), { 'sallyport-action': 'allow' }, host.name)
    await at.close()
  }
})

t.test('monitor mode asks nobody, and says what would have been', async (t) => {
  const policy = { preset: 'observe' as const, rules: [ASK_ALL] }
  const sallyport = await openWithoutData(t, { mode: 'monitor', policy, challenge: { secret: SECRET } })
  const challenge = 'A'.repeat(96)
  // More than half of its time is over, so that it would be renewed.
  const brought = await givenBefore(7)
  for (const host of HOSTS) {
    const at = await host.start(sallyport, '')
    const { status, body, headers } = await visit(at)
    t.equal(status, 200, host.name)
    t.match(siteSaw(body), { 'sallyport-action': 'challenge', 'sallyport-enforced': 'false' }, host.name)
    t.notOk(headers['set-cookie'], host.name)
    for (const target of [
      '/.sallyport/pass',
      '/.sallyport/pass?to=/shop',
      '/.sallyport/pass.js',
      '/shop?sallyport-again=1',
    ]) {
      const answer = await visit(at, { target, cookie: brought })
      t.equal(answer.status, 200, `${host.name} ${target}`)
      t.equal(JSON.parse(answer.body).target, target, `the site answers ${target}`)
    }
    for (const visited of [
      { body: '{}', more: ['Content-Type', 'application/json'] },
      { method: 'GET', target: '/shop' },
    ]) {
      const answer = await redeem(at, `${challenge}.1,2`, { ...visited, cookie: brought })
      t.match(
        [answer.status, answer.headers['sallyport-pass'], answer.headers['set-cookie']],
        [200, undefined, undefined],
      )
    }
    await at.close()
  }
})

t.test('options of a mount: its own policy, skip, respond and mode', async (t) => {
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [] } })
  const policy = [ASK_ALL]
  for (const host of HOSTS.filter(({ hasNoOptions }) => !hasNoOptions)) {
    const statusWith = async (options: Parameters<Host['start']>[2]): Promise<readonly [number, string]> => {
      const at = await host.start(sallyport, '', options)
      const { status, body } = await visit(at)
      await at.close()
      return [status, body]
    }
    t.match(
      await statusWith({ policy, respond: () => ({ status: 418, body: 'mine' }) }),
      [403, /data-challenge/],
      host.name,
    )
    t.equal((await statusWith({ policy, skip: () => true }))[0], 200, host.name)
    t.equal((await statusWith({ policy, mode: 'monitor' }))[0], 200, host.name)
  }
})

t.test('over HTTPS behind a trusted proxy the cookie is of the host alone', async (t) => {
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [ASK_ALL] } })
  for (const host of HOSTS) {
    const at = await host.start(sallyport, '')
    const more = ['X-Forwarded-Proto', 'https']
    const page = await visit(at, { more })
    t.match(page.headers['set-cookie'], /^__Host-sallyport-challenge=.*; Path=\/;.*; Secure$/, host.name)
    t.match(await earnPass(at, { more }), /^__Host-sallyport=/, host.name)
    await at.close()
  }
})
