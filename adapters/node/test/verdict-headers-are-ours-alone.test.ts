import { type IncomingMessage, request } from 'node:http'
import { connect, createServer as createHttp2, type Http2ServerRequest } from 'node:http2'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { receive } from '../src/receive.ts'
import { applyVerdict, withVerdict } from '../src/request/verdict-headers.ts'
import { decisionOn, serve } from './support.ts'

const CASES = [(name: string) => name, (name: string) => name.toUpperCase(), (name: string) => name.replace('s', 'S')]
/** All that a name may hold beside letters and digits (RFC 9110 5.6.2). */
const SEPARATORS = [..."-_.!#$%&'*+^`|~"]
const NAMES = ['action', 'network-class', 'bot-probability', 'asn', 'country', 'enforced', 'trial', 'x', '']
const SPELLINGS = ['Proxy', 'PROXY'].concat(
  NAMES.flatMap((name) =>
    SEPARATORS.flatMap((separator) =>
      CASES.map((write) => write(`sallyport${separator}${name.replace('-', separator)}`)),
    ),
  ),
)
const PROBABILITY = String(decisionOn('/').inspection.agent.botProbability)

const KEPT = ['sallyport', 'Sallyporter', 'x-sallyport-action', 'sally-port-action', 'host', 'S']

const show = (fields: readonly string[]): string => fields.join(' ').replaceAll('sallyport-', '')
const ALLOWED = `action allow network-class unknown bot-probability ${PROBABILITY}`

t.test('the verdict as headers', async (t) => {
  const flagged = withVerdict([], decisionOn('/flagged', { asn: 64496, country: 'DE' }))
  t.equal(show(flagged), `${ALLOWED.replace('allow', 'flag')} asn AS64496 country DE`)
  t.equal(show(withVerdict([], decisionOn('/blocked', {}, 'monitor')).slice(6)), 'enforced false')
  t.equal(show(withVerdict([], decisionOn('/', {}, 'monitor'))), ALLOWED, 'an allow is carried out in any mode')
  const trial = { rule: 'try-it', action: 'block' } as const
  t.equal(show(withVerdict([], { ...decisionOn('/'), trial }).slice(6)), 'trial block')
})

t.test('fields lose every spelling of ours and get ours at the end', async (t) => {
  const fields = [...SPELLINGS, ...KEPT].flatMap((name) => [name, 'sent'])
  const before = [...fields]
  const after = withVerdict(fields, decisionOn('/'))
  t.ok(SPELLINGS.length > 40)
  t.same(after, [...KEPT.flatMap((name) => [name, 'sent']), ...withVerdict([], decisionOn('/'))])
  t.same(fields, before, 'and what was received is left as it is')
})

const SENT = ['Host', 'site.example', 'Accept', '*/*', ...SPELLINGS.flatMap((name) => [name, 'sent'])]

function received(t: Test, look: (req: IncomingMessage) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const listening = serve(t, async (req, res) => {
      await Promise.resolve(req).then(look).then(resolve, reject)
      res.end()
    })
    void listening.then((port) => {
      request({ port, host: '127.0.0.1', agent: false, headers: [...SENT, 'Connection', 'close'] })
        .on('error', () => {})
        .end()
    })
  })
}

t.test('a request shows our verdict alone, by each of its three ways', (t) =>
  received(t, (req) => {
    const evidence = receive({}, req).head.fields
    const before = [...evidence]
    applyVerdict(req, decisionOn('/flagged', { asn: 64496 }))
    const names = (headers: object) => Object.keys(headers).filter((name) => /^sallyport[-_.]/i.test(name))
    t.equal(show(names(req.headers)), 'action network-class bot-probability asn')
    t.equal(req.headers['sallyport-action'], 'flag')
    const verdict = `${ALLOWED.replace('allow', 'flag')} asn AS64496`
    t.equal(show(req.rawHeaders), `Host site.example Accept */* Connection close ${verdict}`)
    t.same(names(req.headersDistinct), [])
    t.same(req.headersDistinct['accept'], ['*/*'])
    t.same(evidence, before, 'what was inspected is not written to')
  }),
)

t.test('without a decision the names are removed and none is set', (t) =>
  received(t, (req) => {
    applyVerdict(req, undefined)
    t.same(req.rawHeaders, ['Host', 'site.example', 'Accept', '*/*', 'Connection', 'close'])
    t.same(Object.keys(req.headers), ['host', 'accept', 'connection'])
  }),
)

t.test('the requests of an HTTP/2 server, whose rawHeaders cannot be replaced', async (t) => {
  const server = createHttp2()
  const seen = new Promise<Http2ServerRequest>((resolve) => {
    server.on('request', (req, res) => {
      applyVerdict(req as unknown as IncomingMessage, decisionOn('/flagged'))
      res.end()
      resolve(req)
    })
  })
  const session = connect(`http://127.0.0.1:${await listening(t, server as never)}`)
  t.teardown(() => session.destroy())
  session.request({ ':path': '/', sallyport_action: 'sent', 'sallyport-asn': 'sent' }).end()
  const { headers, rawHeaders } = await seen
  const names = rawHeaders.filter((name, at) => at % 2 === 0 && name.startsWith('sallyport'))
  t.same(names, ['sallyport-action', 'sallyport-network-class', 'sallyport-bot-probability'])
  t.equal(headers['sallyport-action'], 'flag')
  t.equal(headers['sallyport_action'], undefined)
})
