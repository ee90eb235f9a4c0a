import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { UNSHOWN } from '../../build/openapi.ts'
import { ROUTES } from '../../src/api/index.ts'
import { exampleAnswers } from './example-answers.ts'
import { createWire } from './wire.ts'
import { SHOWN } from './written-document.ts'

t.test('GET /v1 says what there is, and where it is described', async (t) => {
  const { status, json } = await createWire().call('GET', '/v1')
  t.equal(status, 200)
  t.match(json, { name: 'Sallyport', openapi: '/v1/openapi.json', docs: '/v1/docs' })
  t.equal(json.operations.length, ROUTES.length)
  t.ok(json.operations.some(({ path }: { path: string }) => path === '/v1/ip/lookup'))
  t.equal((await createWire().call('POST', '/v1')).status, 405)
})

t.test('GET /v1/docs is a page, compressed for those who take that', async (t) => {
  const plain = await createWire().call('GET', '/v1/docs')
  t.equal(plain.status, 200)
  t.match(plain.headers, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "frame-ancestors 'none'",
    Vary: 'Accept-Encoding',
  })
  t.match(plain.text, /^<!doctype html>/)
  const { api } = createWire()
  const request = { peer: '203.0.113.7', method: 'GET', scheme: 'http', httpVersion: '1.1' } as const
  const target = '/v1/docs'
  for (const [accepts, coding] of [
    ['br, gzip', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['gzip;q=0, br', undefined],
    ['identity', undefined],
  ] as const) {
    const fields = ['Accept-Encoding', accepts]
    const json = () => Promise.reject(new Error())
    const answer = await api({ ...request, target, path: target, fields, query: new URLSearchParams(), json })
    t.equal(answer?.headers['Content-Encoding'], coding, accepts)
    const body = answer?.body
    t.equal(body instanceof Uint8Array ? gunzipSync(body).toString() : body, plain.text, accepts)
  }
})

t.test('without the page neither the index nor the document names it', async (t) => {
  const wire = createWire({ routes: ROUTES.filter(({ path }) => path !== '/v1/docs') })
  t.equal((await wire.call('GET', '/v1/docs')).status, 404)
  t.notOk('docs' in (await wire.call('GET', '/v1')).json)
  t.notOk('/v1/docs' in (await wire.call('GET', '/v1/openapi.json')).json.paths)
})

t.test('the example of every operation works, and is answered as the document shows', async (t) => {
  const answers = await exampleAnswers()
  for (const { operationId, path, access, example, params, body, response } of ROUTES) {
    const { status, text } = answers.get(operationId) ?? {}
    t.equal(status, 200, `${path} ${text?.slice(0, 200)}`)
    if (example === undefined) {
      t.ok(access.kind === 'open' && params === undefined && body === undefined, `${path} needs no example`)
    }
    t.equal(operationId in SHOWN, !UNSHOWN.includes(operationId), operationId)
    if (!(operationId in SHOWN)) continue
    t.same(
      JSON.parse(text ?? ''),
      SHOWN[operationId],
      `${operationId}: run \`npm run openapi\` where the answer is meant`,
    )
    t.ok(response.safeParse(SHOWN[operationId]).success, `${operationId} is of its schema`)
  }
})
