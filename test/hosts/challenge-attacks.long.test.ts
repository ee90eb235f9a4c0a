import t from 'tap'
import { ADDRESS, BROWSER, earnPass, readSolution, redeem, visit } from './challenge-client.ts'
import { ASKING, everyGate } from './every-host.ts'
import { HOSTS, type RunningHost, speaks } from './hosts.ts'
import { CLEAR_HTTP2, NO_OPENSSL, protocolsOverTls } from './protocols.ts'
import { exchange, parseResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Attacks on a rule that asks everybody, over real sockets. */
const NAVIGATES = [
  `X-Forwarded-For: ${ADDRESS}`,
  `User-Agent: ${BROWSER[1]}`,
  'Accept: text/html',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Dest: document',
]
/** Another program brings what a browser has earned. */
const CURL = [...BROWSER.slice(2), 'User-Agent', 'curl/8.9']

/** Sends the lines of a request as they are, from a browser that navigates. */
async function raw({ port }: RunningHost, ...lines: readonly string[]) {
  const sent = [...lines, ...NAVIGATES, 'Connection: close', '', '']
  return parseResponse(await exchange(port, sent.join('\r\n')).catch(() => ''))
}

const readReason = ({ body }: { readonly body: string }): unknown => JSON.parse(body).details?.reason

everyGate('a pass that was cut, doubled or changed is none, also of a visitor who is known', ASKING, async (t, at) => {
  const cookie = await earnPass(at)
  const value = cookie.slice('sallyport='.length)
  const readStatus = async (brought: string | undefined, more: Parameters<typeof visit>[1] = {}): Promise<number> =>
    (await visit(at, { cookie: brought, ...more })).status
  for (let seen = 0; seen < 4; seen++) t.equal(await readStatus(cookie), 200)
  t.equal(await readStatus(`sallyport=x; ${cookie}`), 200, 'the best of several')
  t.equal(await readStatus(undefined), 403)
  t.equal(await readStatus(cookie, { fields: CURL }), 403)
  const changed = `${value.slice(0, 20)}${value[20] === 'A' ? 'B' : 'A'}${value.slice(21)}`
  for (const none of [value.slice(0, -1), value + value, changed, value.toUpperCase(), `"${value}"`]) {
    t.equal(await readStatus(`sallyport=${none}`), 403, none)
  }
  t.equal(await readStatus(`sallyport=%22; SALLYPORT=${value}; xsallyport=${value}; sallyport =${value.slice(2)}`), 403)
  t.equal(await readStatus(cookie), 200)
  for (let network = 1; network <= 12; network++) await readStatus(cookie, { address: `8.8.${network}.1` })
  t.equal(await readStatus(cookie), 403, 'a pass of many networks is lost')
})

everyGate('a solution counts in its field alone, once, and not from another site', ASKING, async (t, at) => {
  const solution = readSolution(await visit(at))
  t.equal((await visit(at, { target: `/.sallyport/pass?sallyport-solution=${solution}` })).status, 403, 'in a query')
  t.equal((await visit(at, { cookie: `sallyport-solution=${solution}` })).status, 403, 'in a cookie')
  for (const site of ['cross-site', 'same-site', 'none']) {
    const refused = await redeem(at, solution, { fields: [...BROWSER.slice(0, 2), 'Sec-Fetch-Site', site] })
    t.match([refused.status, readReason(refused), refused.headers['set-cookie']], [403, 'failed', undefined], site)
  }
  const lies = ['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Site', 'cross-site']
  t.not((await redeem(at, solution, { fields: [...BROWSER.slice(0, 2), ...lies] })).status, 204, 'both of them')
  t.equal(readReason(await redeem(at, solution, { fields: CURL })), 'other_browser')
  const host = await raw(at, 'POST /.sallyport/pass HTTP/1.1', 'Host: other.example', `sallyport-solution: ${solution}`)
  t.not(host.status, 204, 'another host')
  const given = await redeem(at, solution, { more: ['sallyport-solution', solution] })
  const next = await redeem(at, solution)
  t.same([given.status, next.status].toSorted(), [204, 403], 'two fields are one solution, or none')
})

/** Targets by which a visitor may want to write into Location, Set-Cookie or the page. */
const EVIL = String.raw`//evil.example/ /\evil.example/ /.//evil.example /%0d%0aSet-Cookie:a=b
/?a=</script><script>alert(1)</script> /?a="><meta/http-equiv=refresh/content=0> /?a='onerror=1
http://evil.example//other.example/ http://evil.example https:/\evil.example http://[x/ * javascript:alert(1)`.split(
  /\s/,
)

everyGate('no target or host writes into Location, Set-Cookie or the page', ASKING, async (t, at) => {
  for (const target of EVIL) {
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const { status, headers, body } = await raw(at, `${method} ${target} HTTP/1.1`, 'Host: shop.example')
      const what = `${method} ${target}: ${status}`
      // Servers answer for themselves: its own options, and what it cannot read.
      if (status === 200) t.match([method, target], ['OPTIONS', '*'], what)
      else t.ok([204, 400, 403, 404, 421, Number.NaN].includes(status), what)
      t.notMatch(body, /<script>alert|<meta\/http|'onerror/, what)
      t.notMatch(body, /(?:url=|href=")(?:\/\/|\/\\|https?:|javascript)/i, what)
      t.notMatch(headers['set-cookie'] ?? '', /a=b/, what)
      t.notMatch(headers['location'] ?? '', /^(?:\/\/|\/\\|http)/, what)
    }
  }
  for (const name of ['shop"><script>', 'shop.example"', "a'b", 'a b', 'x,y', 'a/../b', '[::1', 'é']) {
    const { status, body } = await raw(at, 'GET /x HTTP/1.1', `Host: ${name}`)
    t.not(status, 200, name)
    t.notMatch(body, name)
  }
})

const SPELLINGS =
  `/.sallyport/pass /.sallyport/pass/ /.sallyport//pass //.sallyport/pass /.SALLYPORT/pass /.sallyport/%70ass
/%2esallyport/pass /.sallyport/pass%00 /.sallyport/pass;a=b /.sallyport/pass/../../shop /.sallyport/pass/..%2f..%2fshop
/.sallyport/pass?sallyport-again=1 /shop/../.sallyport/pass /shop?next=/.sallyport/pass /.sallyport/passx
http://site.example/.sallyport/pass`.split(/\s/)

everyGate('the path of passes opens nothing, however it is written', ASKING, async (t, at) => {
  const cookie = await earnPass(at)
  for (const target of SPELLINGS) {
    for (const method of ['GET', 'POST', 'PUT']) {
      const { status, headers } = await raw(at, `${method} ${target} HTTP/1.1`, 'Host: site.example')
      t.ok([400, 403, 404].includes(status), `${method} ${target}: ${status}`)
      t.notMatch(headers['set-cookie'] ?? '', /sallyport=/, `${method} ${target}`)
    }
    const held = await raw(at, `GET ${target} HTTP/1.1`, 'Host: site.example', `Cookie: ${cookie}`)
    t.notMatch(held.headers['set-cookie'] ?? '', /sallyport=/, `${target}, with a pass`)
  }
})

everyGate('a pass is of the Host field alone, whatever other fields say', ASKING, async (t, at) => {
  const cookie = await earnPass(at)
  const readStatus = async (...lines: readonly string[]): Promise<number> =>
    (await raw(at, 'GET /shop HTTP/1.1', ...lines, `Cookie: ${cookie}`)).status
  for (const host of ['site.example', 'SITE.Example', 'site.example:80', 'site.example:8443']) {
    t.equal(await readStatus(`Host: ${host}`), 200, host)
  }
  const others = ['evil.example', 'evil.example:80', 'xsite.example', 'site.example.evil', 'site.example@evil', '']
  for (const host of others) t.not(await readStatus(`Host: ${host}`), 200, host)
  for (const field of ['X-Forwarded-Host: ', 'Forwarded: host=', 'X-Original-Host: ', 'X-Host: ', 'Host: ']) {
    t.not(await readStatus('Host: evil.example', `${field}site.example`), 200, field)
  }
  t.not(await readStatus('Host: site.example', 'Host: evil.example'), 200, 'two of them')
})

t.test('over TLS and HTTP/2 the pass is of the host alone', { skip: NO_OPENSSL }, async (t) => {
  const sallyport = await openWithoutData(t, ASKING)
  const protocols = [...protocolsOverTls(t), CLEAR_HTTP2]
  for (const host of HOSTS) {
    for (const over of protocols.filter((one) => speaks(host, one))) {
      const at = await host.start(sallyport, '', {}, over)
      const cookie = await earnPass(at, {}, over)
      t.match(cookie, over.certificate ? /^__Host-sallyport=/ : /^sallyport=/, `${host.name}, ${over.name}`)
      t.equal((await visit(at, { cookie }, over)).status, 200, `${host.name}, ${over.name}`)
      const head = await visit(at, { method: 'HEAD' }, over)
      t.match([head.status, head.body], [403, ''])
      await at.close()
    }
  }
})
