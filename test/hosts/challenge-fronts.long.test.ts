import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { givenBefore, readCookie, readSolution, redeem, SECRET, visit } from './challenge-client.ts'
import { noFront, startFront } from './fronts.ts'
import { startOrigin, startProxy } from './proxy.ts'
import { openWithoutData } from './without-data.ts'

/* nginx and Caddy ask as the examples configure them: a visitor is asked, answers, and is let through. */
for (const front of ['nginx', 'caddy'] as const) {
  for (const level of [1, 2] as const) {
    t.test(`${front}, level ${level}`, { skip: noFront(front) }, async (t) => {
      const rule = { id: 'ask', match: {}, action: 'challenge', challenge: { level } } as const
      const policy = { preset: 'observe' as const, rules: [rule] }
      const gate = await startProxy(t, await openWithoutData(t, { policy, challenge: { secret: SECRET } }), {
        forwardAuth: front,
      })
      const origin = await startOrigin(t, (req, res) => res.end(JSON.stringify(req.headers)))
      const at = await startFront(t, front, { gate: new URL(gate.url).host, origin: new URL(origin).host })
      const page = await visit(at)
      t.match([page.status, page.headers['cache-control']], [403, 'no-store'])
      t.match(page.headers['set-cookie'], /^sallyport-challenge=[\w-]{96};/)
      let cookie: string
      if (level === 2) {
        const given = await redeem(at, readSolution(page))
        t.ok(given.headers['sallyport-pass'] === '2', given.body)
        cookie = readCookie(given)
        t.match((await redeem(at, readSolution(page))).headers['sallyport-pass'], 'refused', 'once')
      } else {
        t.equal((await visit(at, { cookie: readCookie(page) })).status, 403, 'too early')
        await delay(1_050)
        const back = await visit(at, { cookie: readCookie(page) })
        t.match([back.status, back.headers['location']], [303, '/shop?item=1'])
        cookie = readCookie(back)
      }
      const seen = await visit(at, { cookie })
      t.match(JSON.parse(seen.body), { 'sallyport-action': 'allow', 'sallyport-pass': String(level) })
      t.notOk(seen.headers['set-cookie'])
      const form = await visit(at, { method: 'POST', body: 'a=1' })
      t.match([form.status, form.headers['content-type']], [403, 'text/html; charset=utf-8'])
      t.equal((await visit(at, { target: '/robots.txt' })).status, 200, 'never asked')
      t.match((await visit(at, { target: '/.sallyport/pass.js' })).body, 'sallyport-challenge')
      t.match((await visit(at, { target: '/.sallyport/pass?to=/shop' })).body, /<main/)
      const there = await visit(at, { target: '/.sallyport/pass?to=/shop', cookie })
      t.match([there.status, there.headers['location']], [303, '/shop'])
      const renewed = await visit(at, { cookie: await givenBefore(7) })
      t.match([renewed.status, renewed.headers['set-cookie']], [200, /^sallyport=[\w-]{52}; Path=\/; Max-Age=43200/])
      t.notOk(JSON.parse(renewed.body)['sallyport-renewed'])
    })
  }
}
