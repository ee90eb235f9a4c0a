import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect, createServer as createHttp2, type Http2ServerRequest } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import type { InspectionRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { applyVerdict, VERDICT_PREFIX, withVerdict } from '../src/answer/verdict-headers.ts'
import { receive } from '../src/receive.ts'
import { decideRequest, decisionOn, serve } from './support.ts'

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

t.test('a browser’s headers stay a quick object with the whole verdict in them', async (t) => {
  setFlagsFromString('--allow-natives-syntax')
  const isQuick = runInThisContext('(headers) => %HasFastProperties(headers)') as (headers: object) => boolean
  const pass = { id: 'passpasspas', level: 2, age: 1 } as const
  const decision = decisionOn('/', { asn: 64496, country: 'DE' })
  const given = { ...decision, id: 'request-1', inspection: { ...decision.inspection, pass } }
  const port = await serve(t, (req, res) => {
    const { headers } = req
    applyVerdict(req as IncomingMessage, given)
    res.end(`${Object.keys(headers).length} ${isQuick(headers)} ${headers['sallyport-pass']}`)
  })
  // Browsers send some fourteen, Host and Connection among them.
  const headers = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`x-field-${at}`, 'x']))
  const [answer] = await once(request({ port, headers, agent: false }).end(), 'response')
  t.equal(await text(answer as IncomingMessage), '21 true 2')
})

t.test('the verdict as headers', async (t) => {
  t.same(withVerdict([], decisionOn('/flagged', { asn: 64496, country: 'DE' })), [
    'sallyport-action',
    'flag',
    'sallyport-network-class',
    'unknown',
    'sallyport-bot-probability',
    PROBABILITY,
    'sallyport-asn',
    'AS64496',
    'sallyport-country',
    'DE',
  ])
  t.same(withVerdict([], decisionOn('/')).slice(0, 4), [
    'sallyport-action',
    'allow',
    'sallyport-network-class',
    'unknown',
  ])
  t.same(withVerdict([], decisionOn('/blocked', {}, 'monitor')).slice(6), ['sallyport-enforced', 'false'])
  t.same(withVerdict([], decisionOn('/', {}, 'monitor')).slice(6), [], 'an allow is carried out in any mode')
  const trial = { rule: 'try-it', action: 'block' } as const
  t.same(withVerdict([], { ...decisionOn('/'), trial }).slice(6), ['sallyport-trial', 'block'])
  t.equal(VERDICT_PREFIX, 'sallyport-')
})

t.test('fields lose every spelling of ours and get ours at the end', async (t) => {
  const fields = [...SPELLINGS, ...KEPT].flatMap((name) => [name, 'sent'])
  const before = [...fields]
  const after = withVerdict(fields, decisionOn('/'))
  t.ok(SPELLINGS.length > 40)
  t.same(after, [
    ...KEPT.flatMap((name) => [name, 'sent']),
    'sallyport-action',
    'allow',
    'sallyport-network-class',
    'unknown',
    'sallyport-bot-probability',
    PROBABILITY,
  ])
  t.same(fields, before, 'and what was received is left as it is')
})

const SENT = ['Host', 'site.example', 'Accept', '*/*', ...SPELLINGS.flatMap((name) => [name, 'sent'])]

function received(t: Test, fields: readonly string[], look: (req: IncomingMessage) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const listening = serve(t, async (req, res) => {
      try {
        await look(req)
        resolve()
      } catch (error) {
        reject(error)
      }
      res.end()
    })
    void listening.then((port) => {
      request({ port, host: '127.0.0.1', agent: false, headers: [...fields, 'Connection', 'close'] }).end()
    })
  })
}

t.test('a request shows our verdict alone, by each of its three ways', (t) =>
  received(t, SENT, (req) => {
    const evidence = receive({}, req).head.fields
    const before = [...evidence]
    applyVerdict(req, decisionOn('/flagged', { asn: 64496 }))
    const names = (headers: object) => Object.keys(headers).filter((name) => /^sallyport[-_.]/i.test(name))
    t.same(names(req.headers), [
      'sallyport-action',
      'sallyport-network-class',
      'sallyport-bot-probability',
      'sallyport-asn',
    ])
    t.equal(req.headers['sallyport-action'], 'flag')
    t.same(req.rawHeaders, [
      'Host',
      'site.example',
      'Accept',
      '*/*',
      'Connection',
      'close',
      'sallyport-action',
      'flag',
      'sallyport-network-class',
      'unknown',
      'sallyport-bot-probability',
      PROBABILITY,
      'sallyport-asn',
      'AS64496',
    ])
    t.same(names(req.headersDistinct), [])
    t.same(req.headersDistinct['accept'], ['*/*'])
    t.same(evidence, before, 'what was inspected is not written to')
  }),
)

t.test('a request whose headers nobody has sent under our names', (t) =>
  received(t, ['Host', 'site.example', 'X-Last', 'here'], (req) => {
    applyVerdict(req, decisionOn('/'))
    t.equal(req.headers['sallyport-action'], 'allow')
    t.equal(req.headers['x-last'], 'here')
    t.same(req.headersDistinct['x-last'], ['here'])
    t.equal(req.headersDistinct['sallyport-action'], undefined)
  }),
)

t.test('without a decision the names are removed and none is set', (t) =>
  received(t, SENT, (req) => {
    applyVerdict(req, undefined)
    t.same(req.rawHeaders, ['Host', 'site.example', 'Accept', '*/*', 'Connection', 'close'])
    t.same(Object.keys(req.headers), ['host', 'accept', 'connection'])
  }),
)

t.test('the requests of an HTTP/2 server, whose rawHeaders cannot be replaced', async (t) => {
  const seen = new Promise<Http2ServerRequest>((resolve) => {
    const server = createHttp2((req, res) => {
      applyVerdict(req as unknown as IncomingMessage, decisionOn('/flagged'))
      res.end()
      resolve(req)
    })
    server.listen(0, '127.0.0.1', () => {
      const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      session.request({ ':path': '/', sallyport_action: 'sent', 'sallyport-asn': 'sent' }).end()
      t.teardown(() => {
        session.destroy()
        server.close()
      })
    })
  })
  const { headers, rawHeaders } = await seen
  const names = rawHeaders.filter((name, at) => at % 2 === 0 && name.startsWith('sallyport'))
  t.same(names, ['sallyport-action', 'sallyport-network-class', 'sallyport-bot-probability'])
  t.equal(headers['sallyport-action'], 'flag')
  t.equal(headers['sallyport_action'], undefined)
})

t.test('the inspected request stays as it was received', (t) =>
  received(t, SENT, async (req) => {
    const before = [...req.rawHeaders]
    let inspected: readonly string[] = []
    const decide = ({ fields }: InspectionRequest) => {
      inspected = fields
      return decisionOn('/flagged', { asn: 64496 })
    }
    t.equal((await decideRequest({ decide }, { req })).decision?.action, 'flag')
    t.same(inspected, before)
    t.notSame(req.rawHeaders, before)
  }),
)
