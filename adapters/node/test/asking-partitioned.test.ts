import t from 'tap'
import { NAVIGATION, openAskingSite, readCookie, readData, solve } from './asking.ts'

/* `challenge.partitioned`: frames of other sites are asked too, over HTTPS alone. */
const PAGE = { path: '/.sallyport', status: 403, partitioned: true }
const FRAME = {
  ...NAVIGATION,
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'iframe',
  'x-forwarded-proto': 'https',
  connection: 'close',
}
const PARTITIONED = /; Path=\/; Max-Age=\d+; HttpOnly; SameSite=None; Secure; Partitioned$/

t.test('its cookies have what browsers need to keep them for each site, and frames are asked', async (t) => {
  const { ask, clock } = await openAskingSite(t, { challenge: PAGE })
  const page = await ask('/puzzle', FRAME)
  t.equal(page.status, 403)
  t.match(page.headers['set-cookie']?.[0], PARTITIONED)
  t.match(readCookie(page), /^__Host-sallyport-challenge=/)
  t.match(page.headers['content-security-policy'], /frame-ancestors \*$/)
  t.equal(readData(page, 'site'), 'SameSite=None; Secure; Partitioned')
  const sent = { ...FRAME, 'sec-fetch-site': 'same-origin', 'sallyport-solution': solve(page) }
  const given = await ask('/.sallyport/pass', sent, 'POST')
  t.match([given.status, given.headers['set-cookie']?.[0]], [204, PARTITIONED])
  t.equal((await ask('/puzzle', { ...FRAME, cookie: readCookie(given) })).body, 'hello')
  const spent = await ask('/.sallyport/pass', { ...sent, cookie: readCookie(page) }, 'POST')
  t.match(spent.headers['set-cookie']?.[0], /^__Host-sallyport-challenge=; Path=\/; Max-Age=0;.*; Partitioned$/)

  const waiting = await ask('/frame', FRAME)
  clock.advance(1_000)
  const back = await ask('/frame?sallyport-again=1', { ...FRAME, cookie: readCookie(waiting) })
  t.match([back.status, back.headers['set-cookie']?.[0]], [303, PARTITIONED])
  for (const dest of ['image', 'embed'])
    t.match((await ask('/frame', { ...FRAME, 'sec-fetch-dest': dest })).body, 'challenge_required', dest)
})

t.test('over plain HTTP, and where it is not configured, nothing is otherwise', async (t) => {
  const plain = { ...FRAME, 'x-forwarded-proto': 'http' }
  const whole = { ...FRAME, 'sec-fetch-dest': 'document' }
  const configured = await openAskingSite(t, { challenge: PAGE })
  const other = await openAskingSite(t, { challenge: { ...PAGE, partitioned: false } })
  t.match((await configured.ask('/puzzle', plain)).body, 'challenge_required')
  t.match((await other.ask('/puzzle', FRAME)).body, 'challenge_required')
  for (const [ask, fields, secure] of [
    [configured.ask, { ...whole, 'x-forwarded-proto': 'http' }, ''],
    [other.ask, whole, '; Secure'],
  ] as const) {
    const page = await ask('/puzzle', fields)
    t.ok(page.headers['set-cookie']?.[0]?.endsWith(`; HttpOnly; SameSite=Lax${secure}`))
    t.match(page.headers['content-security-policy'], /frame-ancestors 'none'$/)
    t.equal(readData(page, 'site'), 'SameSite=Lax')
  }
})
