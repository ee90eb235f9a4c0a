import t from 'tap'
import { AT, agentsOf, CLF, COMBINED, FIREFOX, named, REQUEST, readingsOf, sent } from './read-lines.ts'

/* Texts that only stand in the place of a user agent or of the client's address; more of them are in access-log-forms.long.test.ts. */

t.test("a text of another kind in a user agent's place is none", async (t) => {
  const lacks = 'lacks userAgent'
  const unclear = [
    ['lengths of time', '200 12 "-" "0.002, 0.001"'],
    ['a path', '200 12 "-" "/srv/www/a b"'],
    ['a kind of content', '200 12 "-" "text/html; charset=utf-8"'],
    ['addresses', '200 12 "-" "2001:db8::1, 10.0.0.1"'],
    ['a Via', '200 12 "shop.example" "-" "1.1 varnish/6.0"'],
    ['the name of a server behind a referrer', '200 12 "https://a.example/" "-" "nginx/1.28.0"'],
    ['a text with a name of its own', `200 12 "shop.example" "-" note:"${FIREFOX}"`],
  ] as const
  for (const [what, rest] of unclear) t.same(agentsOf(rest), [lacks], what)
  for (const other of ['HIT', 'shop.example:443', '198.51.100.1']) {
    const lines = ['curl/8.5.0', other, other, other].map((text) => `200 12 "-" "${text}"`)
    t.same(agentsOf(...lines), Array(4).fill(lacks), `most lines have ${other} there`)
  }
  t.same(agentsOf('200 12 "-" "curl/8.5.0" note="-"', `200 12 "-" "x" note="${FIREFOX}"`), ['curl/8.5.0', lacks])
  const line = `203.0.113.9 - - ${CLF} ${REQUEST} 200 12`
  for (const rest of ['"curl/8.5.0"x', 'ua="a" user_agent="b"'])
    t.same(readingsOf([`${line} ${rest}`]), [['combined', lacks]], `${rest}: the format has a place for it`)
  t.same(readingsOf([`${line} "curl/8.5.0"`], named('combined')), [['combined', sent('curl/8.5.0')]])
})

t.test('most lines of a log tell what its fronts are, and a port of a server does', async (t) => {
  const lacks = ['combined', 'lacks address']
  const forwarded = [1, 2, 3].map((last) => `198.51.100.${last} 10.0.0.5 - - ${COMBINED}`)
  const hosted = ['vhost_combined', sent('curl/8.5.0')]
  const host = `shop.example 203.0.113.9 - - ${COMBINED}`
  t.same(readingsOf([...forwarded, `shop.example:443 203.0.113.9 - - ${COMBINED}`]).at(-1), hosted)
  t.same(readingsOf([host, host, `198.51.100.1 10.0.0.5 - - ${COMBINED}`]), [hosted, hosted, lacks])
  const twice = `203.0.113.9 203.0.113.9 - - ${COMBINED}`
  t.same(readingsOf([twice, twice, host]).at(-1), hosted, 'one address is no pair')
  t.same(readingsOf([...forwarded, host], named('vhost_combined')).at(-1), hosted, 'as it is said to be')
  for (const front of [
    'shop.example 10.0.0.5 198.51.100.7 -',
    '203.0.113.9 192.0.2.1:80 10.0.0.7',
    '203.0.113.9 192.0.2.1:80',
  ])
    t.same(readingsOf([`${front} ${COMBINED}`]), [lacks], front)
})

t.test('members that are null, named otherwise or escaped', async (t) => {
  const json = (value: unknown) => readingsOf([JSON.stringify(value)])
  const line = { remote_addr: '203.0.113.9', request: 'GET /a HTTP/1.1', time_iso8601: AT }
  t.same(json({ ...line, user_agent: null, userAgent: 'curl/8.5.0' }), [['json', sent('curl/8.5.0', '')]])
  t.same(json({ ...line, userAgent: 'curl/8.5.0', statusCode: 404 }), [['json', sent('curl/8.5.0', 404)]])
})
