import t from 'tap'
import { lineReader } from '../../src/cli/log/access/access-log.ts'
import { ACCESS_FORMATS, parseFields } from '../../src/cli/log/access/formats.ts'
import { createUnread } from '../../src/cli/log/access/unread.ts'
import { AT, agentsOf, CLF, COMBINED, FIREFOX, named, REQUEST, readingsOf, sent } from './read-lines.ts'

/* Which address and which quoted text of a line are the client's; the lines of each format are in access-log.long.test.ts. */

t.test('two addresses in front are a proxy and its client as well as a host and its client', async (t) => {
  const unclear = [
    `198.51.100.7 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7 10.0.0.5 ${COMBINED}`,
    `198.51.100.7 10.0.0.5 - ${COMBINED}`,
    `198.51.100.7 - 10.0.0.5 - ${COMBINED}`,
    `10.0.0.5 - 198.51.100.7 ${COMBINED}`,
    `10.0.0.5 198.51.100.7:443 - - ${COMBINED}`,
    `198.51.100.7:51234 10.0.0.5 - - ${COMBINED}`,
    `"198.51.100.7" 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7, 10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7,10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `10.0.0.5 198.51.100.7,10.0.0.6 - - ${COMBINED}`,
    `unknown, 10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `unknown 10.0.0.5 - - ${COMBINED}`,
  ]
  for (const line of unclear) t.same(readingsOf([line]), [['combined', 'lacks address']], line)
  const hosts = [
    'shop.example:443 203.0.113.9',
    'shop.example 203.0.113.9',
    '"shop.example" 203.0.113.9',
    '192.0.2.1:443 203.0.113.9',
    '[2001:db8::1]:443 203.0.113.9',
    '203.0.113.9:40001 203.0.113.9',
    '- 203.0.113.9',
  ]
  for (const front of hosts)
    t.same(readingsOf([`${front} - - ${COMBINED}`]), [['vhost_combined', sent('curl/8.5.0')]], front)
  const clients = [
    '203.0.113.9 shop.example -',
    '203.0.113.9:4711 - -',
    '203.0.113.9 192.0.2.1:80 -',
    '"203.0.113.9 - -',
  ]
  for (const front of clients) t.same(readingsOf([`${front} ${COMBINED}`]), [['combined', sent('curl/8.5.0')]], front)
})

t.test('the log tells what stands beside an address, and so does its reader', async (t) => {
  const lighttpd = ['192.0.2.1', 'shop.example', 'www.shop.example'].map((host) => `203.0.113.9 ${host} - ${COMBINED}`)
  t.same(readingsOf(lighttpd), Array(3).fill(['combined', sent('curl/8.5.0')]))
  const forwarded = [1, 2, 3].map((last) => `198.51.100.${last} 10.0.0.5 - - ${COMBINED}`)
  t.same(
    readingsOf([...forwarded, `shop.example 10.0.0.5 - - ${COMBINED}`]),
    Array(4).fill(['combined', 'lacks address']),
  )
  const pair = `192.0.2.1 203.0.113.9 - - ${COMBINED}`
  t.same(readingsOf([pair], named('vhost_combined')), [['vhost_combined', sent('curl/8.5.0')]])
  t.same(readingsOf([lighttpd[0] ?? ''], named('combined')), [['combined', sent('curl/8.5.0')]])
})

t.test('the usual longer forms of the combined one are read', async (t) => {
  const behind = [
    '"198.51.100.1"',
    '"-"',
    '"198.51.100.1, 10.0.0.1" 0.003 0.002, 0.001 10.0.0.2:80, 10.0.0.3:80',
    '0.003 0.002 .',
    '"shop.example"',
    '"-" rt=0.1 uct="0.0" uht="0.1" urt="0.1"',
    '331 0.004 [default-web-80] [] 10.1.2.3:8080 612 0.004 200 9b2b1f4bd9e8b0f8',
    '"TLSv1.3" "TLS_AES_256_GCM_SHA384"',
    '"TLSv1.2" "ECDHE-RSA-AES128-GCM-SHA256" "HTTP/2.0" "GET / HTTP/1.1"',
    '"203.0.113.8:4711" "10.0.1.2:61001" x_forwarded_for:"-" vcap_request_id:"5f" response_time:0.01',
    '"text/html; charset=utf-8" "HIT"',
    '12 TCP_MISS:HIER_DIRECT',
  ]
  for (const more of behind) {
    t.same(agentsOf(`200 12 "-" "${FIREFOX}" ${more}`), [FIREFOX], more)
    t.same(agentsOf(`200 12 "https://a.example/" "${FIREFOX}" ${more}`, `200 12 "-" "-" ${more}`), [FIREFOX, ''], more)
  }
  for (const agent of [
    'okhttp',
    'Googlebot',
    'My Podcast App',
    'Podbean/Android App 8.1.5 (x)',
    'a \\"b\\" c',
    '-',
    '',
  ]) {
    t.same(agentsOf(`200 12 "-" "${agent}" "198.51.100.1"`), [agent === '-' ? '' : agent.replaceAll('\\', '')], agent)
  }
  const strange = ['https://bot.example/', '12345', '198.51.100.1', 'HIT']
  const lines = [FIREFOX, 'curl/8.5.0', 'curl/8.5.0', 'curl/8.5.0', ...strange]
  t.same(agentsOf(...lines.map((agent) => `200 12 "-" "${agent}"`)), lines, 'the log shows its place')
})

t.test('a user agent in another place is read there, where one place alone holds them', async (t) => {
  const forms = [
    (agent: string) => `200 12 "shop.example" "-" "${agent}"`,
    (agent: string) => `200 12 "TLSv1.3" "https://a.example/" "${agent}"`,
    (agent: string) => `"200" "12" "-" "${agent}"`,
    (agent: string) => `"198.51.100.1" 200 12 "-" "${agent}"`,
    (agent: string) => `200 12 "a=b" "-" "${agent}"`,
    (agent: string) => `200 12 "${agent}" "198.51.100.1"`,
    (agent: string) => `200 12 "${agent}" "shop.example"`,
    (agent: string) => `200 12 "${agent}"`,
    (agent: string) => `200 12 host="a" ref="-" ua="${agent}"`,
    (agent: string) => `200 12 "shop.example" user_agent="${agent}" "x"`,
    (agent: string) => `200 12 ref="-" "${agent}"`,
  ]
  for (const form of forms) {
    t.same(agentsOf(form(FIREFOX)), [FIREFOX], form('A'))
    t.same(agentsOf(form(FIREFOX), form('-'), form('curl/8.5.0')), [FIREFOX, '', 'curl/8.5.0'], form('A'))
  }
})

t.test('a line is not read where the user agent may be another of its texts', async (t) => {
  const unclear = [
    ['a server that logs no user agent', '200 12 "https://a.example/" "198.51.100.1"'],
    ['the same', '200 12 "-" "HIT"'],
    ['the same', '200 12 "-" "text/html"'],
    ['the same', '200 12 "-" "5f0c7d1e"'],
    ['the same', '200 12 "shop.example" "-"'],
    ['the same', '200 12 host="shop.example" ref="-"'],
    ["a referrer that looks like one, or a user agent's place", `200 12 "${FIREFOX}" "-"`],
    ['the name of a server', '200 12 "-" "-" "nginx/1.28.0"'],
    ['two that look like one', `200 12 "shop.example" "-" "${FIREFOX}" "nginx/1.28.0"`],
    ['two with its name', `200 12 ua="${FIREFOX}" user_agent="curl/8.5.0"`],
    ['a name and a place', `200 12 "-" "${FIREFOX}" agent="newrelic"`],
    ["quotes of the client's", `200 12 "-" "Mozilla/5.0 "x" y"`],
  ] as const
  for (const [what, rest] of unclear) t.same(agentsOf(rest), ['lacks userAgent'], `${what}: ${rest}`)
  t.same(
    agentsOf(
      '200 12 "-" "curl/8.5.0" "shop.example"',
      `200 12 "shop.example" "-" "${FIREFOX}"`,
      `200 12 "shop.example" "https://a.example/" "${FIREFOX}"`,
      `200 12 "-" "-" "${FIREFOX}"`,
    ),
    ['curl/8.5.0', ...Array(3).fill('lacks userAgent')],
    'two forms in one log, and a client that wrote so',
  )
  const said = `203.0.113.9 - - ${CLF} ${REQUEST} 200 12`
  t.same(readingsOf([`${said} "-" "HIT"`], named('combined')), [['combined', sent('HIT')]])
  t.same(readingsOf([`${said} "x" "-" "${FIREFOX}"`], named('combined')), [['combined', 'lacks userAgent']])
})

t.test('what is not clear is counted with its cure', async (t) => {
  const lines = [`198.51.100.7 10.0.0.5 - - ${COMBINED}`, `203.0.113.9 - - ${CLF} ${REQUEST} 200 12 "-" "-" "a/1"`]
  const unread = createUnread()
  const read = lineReader(ACCESS_FORMATS, lines)
  for (const { reading, format } of lines.flatMap(read)) if ('lacks' in reading) unread.add(reading.lacks, format)
  t.match(unread.notes(), [
    "2 lines not read: 1 without the client's address, 1 without a user agent",
    /one address in front/,
    /--format combined/,
  ])
})

t.test('nothing is made up of the logs of other programs', async (t) => {
  const lines = [
    `79a5 bucket ${CLF} 203.0.113.9 79a5 3E57 REST.GET.OBJECT a ${REQUEST} 200 - 113 - 7 - "-" "${FIREFOX}" - s9`,
    `${CLF} - 200 200 - GET https shop.example "/a" [Client 203.0.113.9] [Length 12] [Gzip -] [Sent-to 10.0.0.2] "curl/8.5.0" "-"`,
    `${CLF} 404 - GET http shop.example "/a" [Client 203.0.113.9] [Length 12] [Gzip 3.1] "-" "https://a.example/"`,
    `[${AT}] "GET /a HTTP/2" 200 - 0 12 3 2 "198.51.100.1" "${FIREFOX}" "5f0c" "shop.example" "10.0.0.2:80"`,
    `[${AT}] "GET /a HTTP/1.1" 200 - via_upstream - "-" 0 12 3 2 "-" "${FIREFOX}" "5f0c" "shop.example" "10.0.0.2:80" inbound`,
    `shop.example - [${AT}] ${REQUEST} 200 0 12 "-" "${FIREFOX}" "203.0.113.9:4711" "10.0.1.2:61001"`,
    'at=info method=GET path="/a" host=shop.example request_id=5f fwd="203.0.113.9" dyno=web.1 status=200 bytes=61',
    '1795251600.123    345 203.0.113.9 TCP_MISS/200 12 GET http://a.example/ - HIER_DIRECT/192.0.2.1 -',
    '[pid: 7|app: 0|req: 1/1] 203.0.113.9 () {34 vars in 500 bytes} [Sat Nov 21 09:00:00 2026] GET /a => generated 12 bytes',
    'INFO:     203.0.113.9:51234 - "GET /a HTTP/1.1" 200 OK',
    'GET /a 200 3.123 ms - 12',
    '203.0.113.9, -, 11/21/26, 9:00:00, W3SVC2, WEB, 10.0.0.1, 15, 200, 300, 200, 0, GET, /a, -,',
    `https ${AT} app/a/1 203.0.113.9:2817 10.0.0.1:80 0.1 0.1 0.1 200 200 0 57 "GET https://a.example:443/x HTTP/1.1" "curl/8.5.0" - -`,
    '203.0.113.9:5 [21/Nov/2026:10:00:00.123] web~ app/one 10/0/30/69/109 200 27 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"',
    `203.0.113.9 - - ${CLF} ${REQUEST} 200 12 0.0012`,
    `203.0.113.9 - - [21/Nov/2026 09:00:00] ${REQUEST} 200 -`,
    `HIT|200|1795251600123|412|390|203.0.113.9|-|https://a.example/a|WA|${FIREFOX}|5f0c|DE`,
    JSON.stringify({ deploymentId: 'd', timestamp: Date.parse(AT), proxy: { path: '/a' } }),
    JSON.stringify({ timestamp: AT, client: { address: '203.0.113.9' }, url: { path: '/a' } }),
  ]
  for (const line of lines) t.match(readingsOf([line]), [[String, /^lacks /]], line.slice(0, 90))
  t.same(readingsOf([`"203.0.113.9 - - ${CLF} ${REQUEST} 200 12 "-" "${FIREFOX}""`]), [['combined', sent(FIREFOX)]])
})

t.test('members of other JSON are named, within others or with dots, beside the usual ones', async (t) => {
  const fields = [parseFields('ip=client.ip, target=url.original,userAgent=UA,at=start')]
  const line = { client: { ip: '203.0.113.9' }, 'url.original': '/a', method: 'GET', start: AT, status: 200 }
  t.same(readingsOf([JSON.stringify({ ...line, UA: FIREFOX })], fields), [['fields', sent(FIREFOX)]])
  t.same(readingsOf([JSON.stringify({ ...line, UA: null })], fields), [['fields', sent('')]])
  t.same(readingsOf([JSON.stringify(line)], fields), [['fields', 'lacks userAgent']])
  for (const wrong of ['agent=UA', 'ip', 'ip=', '__proto__=a'])
    t.throws(() => parseFields(wrong), { code: 'invalid_request', message: /is not one of ip, method/ }, wrong)
})
