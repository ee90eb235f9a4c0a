import { BROWSER, givenBefore, readCookie, readSolution, redeem, SECRET, visit } from './challenge-client.ts'
import { everyGate } from './every-host.ts'
import { solutionTo } from './solution.ts'

/* The gate as applications use it, in every host: the challenge in JSON, the script, the page on purpose, forms, and passes in use. */
const ASK = { id: 'ask', match: { path: ['/shop', '/form'] }, action: 'challenge', challenge: { level: 2 } } as const
const FETCH = [...BROWSER.slice(0, 2), 'Accept', '*/*', 'Sec-Fetch-Mode', 'cors', 'Sec-Fetch-Dest', 'empty']

const CONFIG = { policy: { preset: 'observe' as const, rules: [ASK] }, challenge: { secret: SECRET } }

everyGate('applications use the gate', CONFIG, async (t, at) => {
  const json = await visit(at, { fields: FETCH })
  const { details } = JSON.parse(json.body)
  t.match(details, { puzzles: 32, bits: 10, wait: 8, level: 2, pass: '/.sallyport/pass' })
  t.notOk(json.headers['set-cookie'])
  const given = await redeem(at, solutionTo(details), { target: details.pass })
  t.match([given.status, given.headers['sallyport-pass']], [204, '2'])
  const cookie = readCookie(given)

  const script = await visit(at, { target: '/.sallyport/pass.js', fields: FETCH })
  t.match([script.status, script.headers['content-type']], [200, 'text/javascript; charset=utf-8'])
  t.match(script.body, 'sallyport-challenge')
  const known = [...FETCH, 'If-None-Match', String(script.headers['etag'])]
  t.match(await visit(at, { target: '/.sallyport/pass.js', fields: known }), { status: 304, body: '' })
  const packed = [...FETCH, 'Accept-Encoding', 'gzip']
  const small = await visit(at, { target: '/.sallyport/pass.js', fields: packed, method: 'HEAD' })
  t.equal(small.headers['content-encoding'], 'gzip')

  const page = await visit(at, { target: '/.sallyport/pass?to=/shop%3Fa=1' })
  t.match([page.status, page.body], [403, /data-puzzles="32"/])
  const back = await visit(at, { target: '/.sallyport/pass?to=/shop%3Fa=1', cookie })
  t.match([back.status, back.headers['location'], back.body], [303, '/shop?a=1', ''])
  const evil = await visit(at, { target: '/.sallyport/pass?to=//evil.example/', cookie })
  t.equal(evil.headers['location'], '/')
  const open = await visit(at, { target: '/.sallyport/pass?to=/other', fields: FETCH })
  t.match([open.status, open.headers['sallyport-pass']], [204, 'none'])

  const sent = { method: 'POST', target: '/form', body: 'secret=1' }
  const form = await visit(at, { ...sent, more: ['Referer', 'http://site.example:8080/page?a=1'] })
  t.match([form.status, form.body], [403, /Your form was not sent\./])
  t.match(form.body, 'data-back="/page?a=1"')
  t.notMatch(form.body, 'secret')
  const earned = readCookie(await redeem(at, readSolution(form)))
  t.equal((await visit(at, { ...sent, cookie: earned, more: ['Content-Type', 'text/plain'] })).status, 200)

  const old = await givenBefore(7)
  const seen = await visit(at, { cookie: old })
  t.equal(seen.status, 200)
  t.match(seen.headers['set-cookie'], /^sallyport=[\w-]{52}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
  const renewed = readCookie(seen)
  const again = await visit(at, { cookie: renewed })
  t.match([again.status, again.headers['set-cookie']], [200, undefined])
  const picture = await visit(at, { cookie: old, more: ['Sec-Fetch-Dest', 'image'], fields: BROWSER.slice(0, 4) })
  t.match([picture.status, picture.headers['set-cookie']], [200, undefined], 'caches keep pictures')
  t.notOk((await visit(at, { cookie: await givenBefore(5) })).headers['set-cookie'])
})
