import t from 'tap'
import { inspection, type LambdaEvent, v1 } from '../src/lambda.ts'
import { standIn } from './stand-in.ts'

function eventOf(rawPath: string, more: Partial<LambdaEvent> = {}, method = 'GET'): LambdaEvent {
  return {
    rawPath,
    rawQueryString: 'x=1',
    headers: { 'user-agent': 'Mozilla/5.0', 'sallyport-action': 'allow' },
    isBase64Encoded: false,
    requestContext: { domainName: 'site.example', http: { method, sourceIp: '192.0.2.7' } },
    ...more,
  }
}

t.test('the handler gets the event with the decision, and its headers with the verdict', async (t) => {
  const { sallyport, judged, observed } = standIn()
  const seen: unknown[] = []
  const handler = inspection(sallyport, async ({ rawPath, headers, sallyport }, context: string) => {
    seen.push([rawPath, headers['sallyport-action'], sallyport?.action, context])
    return { statusCode: 201, headers: { 'X-Own': 'a' }, cookies: ['c=d'], body: 'made' }
  })
  const result = await handler(eventOf('/admin/../shop', { cookies: ['a=b', 'c=d'] }), 'context')
  t.same(seen, [['/shop', 'flag', 'flag', 'context']])
  t.match(result, {
    statusCode: 201,
    headers: { 'x-own': 'a', 'x-request-id': String },
    cookies: ['c=d'],
    body: 'made',
  })
  t.match(judged, [{ peer: '192.0.2.7', method: 'GET', target: '/shop?x=1', scheme: 'https' }])
  t.ok(judged[0]?.fields.join().includes('cookie,a=b; c=d'))
  t.match(observed, [{ status: 201, client: '192.0.2.7' }])
})

t.test('a header beyond Latin-1 is the bytes that came', async (t) => {
  const { sallyport, judged } = standIn()
  const handler = inspection(sallyport, () => ({ statusCode: 200 }))
  const headers = { 'user-agent': 'Mozilla/5.0', 'x-name': 'Ада' }
  t.match(await handler(eventOf('/', { headers, cookies: ['name=Ада'] }), undefined), { statusCode: 200 })
  const bytes = Buffer.from('Ада').toString('latin1')
  t.match(judged[0]?.fields.join(), `x-name,${bytes}`)
  t.match(judged[0]?.fields.join(), `cookie,name=${bytes}`)
})

t.test('a block is answered, and the handler does not run', async (t) => {
  const { sallyport, observed } = standIn()
  const handler = inspection(sallyport, () => t.fail('it ran'))
  const { statusCode, headers, body = '', isBase64Encoded } = await handler(eventOf('/blocked'), undefined)
  t.same([statusCode, isBase64Encoded, headers?.['cache-control']], [403, false, 'no-store'])
  t.match(JSON.parse(body), { error: 'request_blocked', details: { requestId: headers?.['x-request-id'] } })
  t.match(observed, [{ status: 403, answeredBy: 'refusal' }])
})

t.test('a value without a status is JSON of an answer of 200, as API Gateway has it', async (t) => {
  const { sallyport } = standIn()
  const answerOf = (value: unknown) => inspection(sallyport, () => value)(eventOf('/'), undefined)
  t.match(await answerOf({ a: 1 }), {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  t.match(await answerOf('a text'), { statusCode: 200, body: 'a text' })
})

t.test('what a handler throws is thrown on, and the request has ended', async (t) => {
  const { sallyport, observed } = standIn()
  const handler = inspection(sallyport, async () => {
    throw new Error('a fault of the site')
  })
  await t.rejects(handler(eventOf('/'), undefined), { message: 'a fault of the site' })
  t.match(observed, [{ status: 500 }])
})

t.test('the API reads the body of an event, as bytes or as text, and is one request with the inspection', async (t) => {
  const { sallyport, observed } = standIn()
  const api = async ({ json }: { json(): Promise<unknown> }) => ({
    status: 200,
    headers: {},
    body: JSON.stringify(await json()),
  })
  const handler = inspection(
    sallyport,
    v1({ ...sallyport, api }, () => 'the site', { base: '/detect' }),
  )
  for (const [body, isBase64Encoded] of [
    ['{"n":1}', false],
    [Buffer.from('{"n":1}').toString('base64'), true],
  ] as const) {
    const event = eventOf('/detect/v1/x', { body, isBase64Encoded }, 'POST')
    t.match(await handler(event, undefined), { statusCode: 200, body: '{"n":1}' })
  }
  t.match(await handler(eventOf('/elsewhere'), undefined), { body: 'the site' })
  t.match(observed, [{ answeredBy: 'api' }, { answeredBy: 'api' }, { answeredBy: 'host' }])
  t.equal(observed.length, 3)
})
