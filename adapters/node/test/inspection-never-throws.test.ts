import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { answer, requireApi } from '../src/api-answer.ts'
import { requireDecider } from '../src/decider.ts'
import type { ApiHost, Attester, Decider } from '../src/index.ts'
import { createInspection } from '../src/inspection/create-inspection.ts'
import { NODE } from '../src/receive.ts'
import { decideRequest, decider, dial, serve } from './support.ts'

function makeRequest(fields: readonly string[], url = '/'): IncomingMessage {
  const req = new IncomingMessage(new Socket())
  req.url = url
  req.rawHeaders = [...fields]
  req.headers = Object.fromEntries(fields.flatMap((name, at) => (at % 2 ? [] : [[name.toLowerCase(), fields[at + 1]]])))
  return req
}

t.test('a decider that fails lets the request pass, without a verdict, and says so', async (t) => {
  const broken: Decider = {
    decide() {
      throw new Error('a fault')
    },
  }
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  const req = makeRequest(['Sallyport-Action', 'allow', 'Accept', '*/*'])
  t.same(decideRequest(broken, { req }), {})
  t.same(req.rawHeaders, ['Accept', '*/*'], "the visitor's own verdict does not pass")
  t.match(await warned, { name: 'SallyportWarning', message: /A part of the inspection failed: Error: a fault/ })
})

t.test('a claim that cannot be read lets nobody in, and says so; in monitor mode the request passes', async (t) => {
  const thrown = new Error('a fault')
  for (const mode of ['enforce', 'monitor'] as const) {
    const attester: Attester = {
      ...decider(mode),
      config: { mode },
      provenance: { attestDecision: async () => t.fail('there is nothing to record') as never },
    }
    const reported: unknown[] = []
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const inspect = createInspection(NODE, attester, {
      provenance: {
        claim() {
          throw thrown
        },
      },
      onError: (error) => void reported.push(error),
    })
    const { refusal } = await inspect({ req: makeRequest([]) }, new IncomingMessage(new Socket()))
    t.same([refusal?.status, reported], [mode === 'enforce' ? 503 : undefined, [thrown]])
    if (mode === 'monitor') t.match(await warned, { message: /passed without attestation: Error: a fault/ })
  }
})

t.test('a request of which Node has dropped fields cannot be judged', async (t) => {
  const fields = (count: number) => Array.from({ length: count }, (_, n) => `A${n}: 1\r\n`).join('')
  for (const [maxHeadersCount, sent, status] of [
    [null, 998, 200],
    [null, 1500, 431],
    [100, 150, 431],
    [0, 1500, 200],
  ] as const) {
    const port = await serve(
      t,
      async (req, res) => {
        const api = await answer({ api: async () => undefined }, req, { res, target: '/v1', path: '/v1' })
        const { refusal } = await decideRequest(decider(), { req, res })
        t.equal(api?.status, refusal?.status, 'nor can the API answer it')
        res.writeHead(refusal?.status ?? 200).end()
      },
      (server) => Object.assign(server, { maxHeadersCount }),
    )
    const { closed } = dial(t, port, `GET / HTTP/1.1\r\n${fields(sent)}Connection: close\r\n\r\n`.replace('A0', 'Host'))
    t.equal(Number((await closed).split(' ')[1]), status, `${sent} sent, ${maxHeadersCount} kept`)
  }
})

t.test('a forgotten await fails at start-up', async (t) => {
  const promise = Promise.resolve(decider())
  t.throws(() => requireDecider(promise as unknown as Decider), { code: 'invalid_config' })
  t.throws(() => requireApi(promise as unknown as ApiHost), { code: 'invalid_config' })
})
