import { parseTrust } from '@sallyport/core'
import t from 'tap'
import { createLineReader } from '../../src/cli/log/access/access-log.ts'
import { ACCESS_FORMATS } from '../../src/cli/log/access/formats.ts'
import { parseFields } from '../../src/cli/log/access/json.ts'
import { describeUnread } from '../../src/cli/log/access/unread.ts'
import { AT, CLF, COMBINED, FIREFOX, listAgents, listReadings, named, REQUEST, sent } from './read-lines.ts'

/* Which address and which quoted text of a line are the client's; the lines of each format are in access-log.long.test.ts. */

t.test('two addresses in front are a proxy and its client as well as a host and its client', async (t) => {
  const unclear = [
    `198.51.100.7 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7 - 10.0.0.5 - ${COMBINED}`,
    `10.0.0.5 - 198.51.100.7 ${COMBINED}`,
    `198.51.100.7:51234 10.0.0.5 - - ${COMBINED}`,
    `192.0.2.1:443 203.0.113.9 - - ${COMBINED}`,
    `"198.51.100.7" 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7, 10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7,10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `10.0.0.5 198.51.100.7,10.0.0.6 - - ${COMBINED}`,
    `unknown, 10.0.0.5 - - ${COMBINED}`,
  ]
  for (const line of unclear) t.same(listReadings([line]), [['combined', 'lacks address']], line)
  const trust = parseTrust(['private'])
  for (const line of unclear.filter((line) => /198\.51\.100\.7/.test(line)))
    t.match(listReadings([line], undefined, trust), [['combined', /^198\.51\.100\.7 GET/]], line)
  for (const line of unclear.filter((line) => !/198\.51\.100\.7/.test(line)))
    t.match(listReadings([line], undefined, trust), [['combined', 'lacks address']], line)
  const clear = [
    'shop.example:443 203.0.113.9',
    '"shop.example" 203.0.113.9',
    '203.0.113.9:40001 203.0.113.9',
    '- 203.0.113.9',
    '203.0.113.9 shop.example -',
    '203.0.113.9:4711 - -',
    '"203.0.113.9 - -',
  ]
  for (const front of clear) t.same(listReadings([`${front} - ${COMBINED}`]), [['combined', sent('curl/8.5.0')]], front)
})

t.test('the usual longer forms of the combined one are read', async (t) => {
  const behind = [
    '"198.51.100.1"',
    '"198.51.100.1, 10.0.0.1" 0.003 0.002, 0.001 10.0.0.2:80, 10.0.0.3:80',
    '0.003 0.002 .',
    '"-" rt=0.1 uct="0.0" uht="0.1" urt="0.1"',
    '331 0.004 [default-web-80] [] 10.1.2.3:8080 612 0.004 200 9b2b1f4bd9e8b0f8',
    '"TLSv1.3" "TLS_AES_256_GCM_SHA384"',
    '"203.0.113.8:4711" "10.0.1.2:61001" x_forwarded_for:"-" vcap_request_id:"5f" response_time:0.01',
    '12 TCP_MISS:HIER_DIRECT',
  ]
  for (const more of behind)
    t.same(
      listAgents(`200 12 "https://a.example/" "${FIREFOX}" ${more}`, `200 12 "-" "-" ${more}`),
      [FIREFOX, ''],
      more,
    )
  const agents = ['okhttp', 'My Podcast App', 'a \\"b\\" c', '-', '', 'https://bot.example/', '12345', 'HIT']
  const lines = [FIREFOX, ...agents].map((agent) => `200 12 "-" "${agent}"`)
  const read = agents.map((agent) => (agent === '-' ? '' : agent.replaceAll('\\', '')))
  t.same(listAgents(...lines), [FIREFOX, ...read], 'one line shows that the log has user agents there')
})

t.test('a log is not read where no line has a user agent in its place', async (t) => {
  const unclear = [
    ['a server that logs no user agent', '200 12 "https://a.example/" "198.51.100.1"'],
    ['the same', '200 12 "-" "HIT"'],
    ['the same', '200 12 "-" "text/html; charset=utf-8"'],
    ['HAProxy', '200 2750 "" "" 33317 568 "web" "app" "one" 10 0'],
    ['Traefik', '200 5 "-" "-" 1 "r@file" "http://10.0.0.2:80" 3ms'],
    ['another place', `200 12 "${FIREFOX}"`],
    ["quotes of the client's", '200 12 "-" "Mozilla/5.0 "x" y"'],
    ['no place', '200 12 0.0012'],
  ] as const
  for (const [what, rest] of unclear)
    t.same(listAgents(rest, rest), Array(2).fill('lacks userAgent'), `${what}: ${rest}`)
  const line = `203.0.113.9 - - ${CLF} ${REQUEST} 200 12 "-" "HIT"`
  t.same(listReadings([line], named('combined')), [['combined', sent('HIT')]], 'the operator names the format')
})

t.test('what is not clear is counted by what it lacks', async (t) => {
  const lines = [`198.51.100.7 10.0.0.5 - - ${COMBINED}`, `203.0.113.9 - - ${CLF} ${REQUEST} 200 12`]
  const unread: Record<string, number> = {}
  const read = createLineReader(ACCESS_FORMATS, lines)
  for (const { reading } of lines.flatMap(read)) if ('lacks' in reading) unread[reading.lacks] = 1
  t.equal(describeUnread(unread), "2 lines not read: 1 without the client's address, 1 without a user agent")
})

t.test('nothing is made up of the logs of other programs', async (t) => {
  const lines = [
    `79a5 bucket ${CLF} 203.0.113.9 79a5 3E57 REST.GET.OBJECT a ${REQUEST} 200 - 113 - 7 - "-" "${FIREFOX}" - s9`,
    `${CLF} - 200 200 - GET https shop.example "/a" [Client 203.0.113.9] [Length 12] [Gzip -] [Sent-to 10.0.0.2] "curl/8.5.0" "-"`,
    `[${AT}] "GET /a HTTP/2" 200 - 0 12 3 2 "198.51.100.1" "${FIREFOX}" "5f0c" "shop.example" "10.0.0.2:80"`,
    `shop.example - [${AT}] ${REQUEST} 200 0 12 "-" "${FIREFOX}" "203.0.113.9:4711" "10.0.1.2:61001"`,
    'at=info method=GET path="/a" host=shop.example request_id=5f fwd="203.0.113.9" dyno=web.1 status=200 bytes=61',
    '1795251600.123    345 203.0.113.9 TCP_MISS/200 12 GET http://a.example/ - HIER_DIRECT/192.0.2.1 -',
    '[pid: 7|app: 0|req: 1/1] 203.0.113.9 () {34 vars in 500 bytes} [Sat Nov 21 09:00:00 2026] GET /a => generated 12 bytes',
    '203.0.113.9, -, 11/21/26, 9:00:00, W3SVC2, WEB, 10.0.0.1, 15, 200, 300, 200, 0, GET, /a, -,',
    `https ${AT} app/a/1 203.0.113.9:2817 10.0.0.1:80 0.1 0.1 0.1 200 200 0 57 "GET https://a.example:443/x HTTP/1.1" "curl/8.5.0" - -`,
    '203.0.113.9:5 [21/Nov/2026:10:00:00.123] web~ app/one 10/0/30/69/109 200 27 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"',
    `HIT|200|1795251600123|412|390|203.0.113.9|-|https://a.example/a|WA|${FIREFOX}|5f0c|DE`,
    JSON.stringify({ deploymentId: 'd', timestamp: Date.parse(AT), proxy: { path: '/a' } }),
    JSON.stringify({ timestamp: AT, client: { address: '203.0.113.9' }, url: { path: '/a' } }),
  ]
  for (const line of lines) t.match(listReadings([line]), [[String, /^lacks /]], line.slice(0, 90))
})

t.test('members of other JSON are named, within others or with dots, beside the usual ones', async (t) => {
  const fields = [parseFields('ip=client.ip, target=url.original,userAgent=UA,at=start')]
  const line = { client: { ip: '203.0.113.9' }, 'url.original': '/a', method: 'GET', start: AT, status: 200 }
  t.same(listReadings([JSON.stringify({ ...line, UA: FIREFOX })], fields), [['fields', sent(FIREFOX)]])
  t.same(listReadings([JSON.stringify({ ...line, UA: null })], fields), [['fields', sent('')]])
  t.same(listReadings([JSON.stringify(line)], fields), [['fields', 'lacks userAgent']])
  for (const wrong of ['agent=UA', 'ip', 'ip=', '__proto__=a'])
    t.throws(() => parseFields(wrong), { code: 'invalid_request', message: /is not one of ip, method/ }, wrong)
})

t.test('members that are null, or named otherwise', async (t) => {
  const json = (value: unknown) => listReadings([JSON.stringify(value)])
  const line = { remote_addr: '203.0.113.9', request: 'GET /a HTTP/1.1', time_iso8601: AT }
  t.same(json({ ...line, user_agent: null, userAgent: 'curl/8.5.0' }), [['json', sent('curl/8.5.0', '')]])
  t.same(json({ ...line, userAgent: 'curl/8.5.0', statusCode: 404 }), [['json', sent('curl/8.5.0', 404)]])
})

t.test('the client of a trusted proxy is in the column of its header, in every format', async (t) => {
  const json = (members: object) => JSON.stringify({ time: AT, user_agent: 'curl/8.5.0', ...members })
  const usual = { remote_addr: '10.0.0.5', request: 'GET /a HTTP/1.1' }
  const caddy = (headers: object) =>
    JSON.stringify({
      ts: AT,
      request: { remote_ip: '10.0.0.5', uri: '/a', headers: { 'User-Agent': ['curl/8.5.0'], ...headers } },
    })
  const w3c = (name: string, value: string) => [
    `#Fields: date time c-ip cs-method cs-uri-stem cs(User-Agent) ${name}`,
    `2026-11-21 09:00:00 10.0.0.5 GET /a curl/8.5.0 ${value}`,
  ]
  const logs = (name: string, value: string) => {
    const under = name.toLowerCase().replaceAll('-', '_')
    return [
      [json({ ...usual, [`http_${under}`]: value })],
      [json({ ...usual, [under]: value })],
      [caddy({ [name]: [value] })],
      [
        json({
          ClientHost: '10.0.0.5',
          RequestPath: '/a',
          'request_User-Agent': 'curl/8.5.0',
          [`request_${name}`]: value,
        }),
      ],
      w3c(`cs(${name})`, value.replaceAll(' ', '+')),
      [`10.0.0.5 - - ${COMBINED} "${value}"`],
    ]
  }
  const listClients = (header: string, value: string, trust: ReturnType<typeof parseTrust>) =>
    logs(header, value).map((lines) => listReadings(lines, undefined, trust).map(([, read]) => read.split(' ')[0]))
  const each = (address: string) => Array.from({ length: 6 }, () => [address])
  const trust = parseTrust(['private'])
  t.same(listClients('X-Forwarded-For', '1.1.1.1, 203.0.113.9, 10.0.0.6', trust), each('203.0.113.9'))
  t.same(listClients('X-Forwarded-For', '203.0.113.9', trust), each('203.0.113.9'))
  t.same(listClients('X-Forwarded-For', '-', trust), each('10.0.0.5'))
  t.same(
    listClients('X-Forwarded-For', '203.0.113.9', parseTrust(['loopback'])),
    each('10.0.0.5'),
    'a client says what it likes',
  )
  t.same(
    listClients('CF-Connecting-IP', '203.0.113.9', parseTrust(['private'], 'cf-connecting-ip')),
    each('203.0.113.9'),
  )
  t.same(listClients('X-Real-IP', '203.0.113.9', trust).slice(0, 5), each('10.0.0.5').slice(0, 5), 'another header')
})
