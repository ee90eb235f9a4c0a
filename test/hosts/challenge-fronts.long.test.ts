import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { BROWSER, givenBefore, readCookie, readSolution, redeem, SECRET, visit } from './challenge-client.ts'
import { noFront, startFront } from './fronts.ts'
import { running } from './hosts.ts'
import { startProxy } from './proxy.ts'
import { openWithoutData } from './without-data.ts'

/* nginx and Caddy ask as the examples configure them: a visitor is asked, answers, and is let through. */
for (const front of ['nginx', 'caddy'] as const) {
  for (const level of [1, 2] as const) {
    t.test(`${front}, level ${level}`, { skip: noFront(front) }, async (t) => {
      const rule = { id: 'ask', match: {}, action: 'challenge', challenge: { level } } as const
      const sallyport = await openWithoutData(t, {
        policy: { preset: 'observe', rules: [rule] },
        challenge: { secret: SECRET },
      })
      const gate = await startProxy(t, sallyport, { forwardAuth: front })
      const origin = await running(createServer((req, res) => res.end(JSON.stringify(req.headers))))
      t.teardown(() => origin.close())
      const at = await startFront(t, front, { gate: new URL(gate.url).host, origin: `127.0.0.1:${origin.port}` })
      const page = await visit(at)
      t.match([page.status, page.headers['content-type']], [403, 'text/html; charset=utf-8'])
      t.match(page.headers['set-cookie'], /^sallyport-challenge=[\w-]{96};/)
      t.match(page.headers['cache-control'], 'no-store')
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
      t.match(cookie, /^sallyport=[\w-]{52}$/)
      const seen = await visit(at, { cookie })
      t.equal(seen.status, 200)
      t.match(JSON.parse(seen.body), { 'sallyport-action': 'allow', 'sallyport-pass': String(level) })
      const program = await visit(at, { fields: [...BROWSER.slice(0, 2), 'Accept', 'application/json'] })
      t.match([program.status, JSON.parse(program.body).error], [403, 'challenge_required'])
      t.equal(program.headers['sallyport-challenge'], '/.sallyport/pass')
      const form = await visit(at, { method: 'POST', body: 'a=1' })
      t.match([form.status, form.headers['content-type']], [403, 'text/html; charset=utf-8'])
      t.equal((await visit(at, { target: '/robots.txt' })).status, 200, 'never asked')
      const script = await visit(at, { target: '/.sallyport/pass.js', fields: BROWSER.slice(0, 2) })
      t.match([script.status, script.headers['content-type'], script.body], [200, /javascript/, /sallyport-challenge/])
      const asked = await visit(at, { target: '/.sallyport/pass?to=/shop' })
      t.match([asked.status, asked.body], [403, /<main/])
      const there = await visit(at, { target: '/.sallyport/pass?to=/shop', cookie })
      t.match([there.status, there.headers['location']], [303, '/shop'])
      const renewed = await visit(at, { cookie: await givenBefore(7) })
      t.match([renewed.status, renewed.headers['set-cookie']], [200, /^sallyport=[\w-]{52}; Path=\/; Max-Age=43200/])
      t.notOk(JSON.parse(renewed.body)['sallyport-renewed'])
      t.notOk((await visit(at, { cookie })).headers['set-cookie'])
    })
  }
}
