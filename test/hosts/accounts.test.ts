import type { RequestListener } from 'node:http'
import type { Sallyport } from '@sallyport/engine'
import { inspection as inspectFetch } from '@sallyport/fetch'
import { listener } from '@sallyport/node'
import t, { type Test } from 'tap'
import { FRAMEWORKS } from './frameworks.ts'
import { startOrigin } from './proxy.ts'
import { openWithoutData } from './without-data.ts'

const EVENT = { event: 'login', identifier: 'ada@shop.example', outcome: 'failure' } as const

const opened = (t: Test) => openWithoutData(t, { policy: { preset: 'observe', limits: ['account-guard'] } })

const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0' }
const WANTED = {
  action: 'allow',
  rule: 'default',
  account: { known: false },
  reasons: [{ id: 'policy:default' }, { id: 'account:unknown' }],
}

const onNode = (sallyport: Sallyport): RequestListener =>
  listener(sallyport, async (req, res) => void res.end(JSON.stringify(await sallyport.accounts.assess(req, EVENT))))

for (const [name, create] of [['node:http', onNode] as const, ...Object.entries(FRAMEWORKS)]) {
  // A handler of Hono has a context, and in it the request of the web.
  if (name.startsWith('Hono')) continue
  t.test(`${name}: an event is judged with its request`, async (t) => {
    const sallyport = await opened(t)
    const app = await create(sallyport, (request) => sallyport.accounts.assess(request, EVENT))
    const answer = await fetch(`${await startOrigin(t, app)}/login`, { method: 'POST', headers })
    t.match(await answer.json(), { id: answer.headers.get('x-request-id'), ...WANTED })
  })
}

t.test('fetch: an event is judged with its request, and one that no inspection has seen is refused', async (t) => {
  const sallyport = await opened(t)
  const request = new Request('https://shop.example/login', { method: 'POST', headers })
  await t.rejects(sallyport.accounts.assess(request, EVENT), {
    code: 'invalid_config',
    message: /Mount inspection\(\)/,
  })
  const { decision } = await inspectFetch(sallyport)(request, { address: '81.130.10.20' })
  t.match(await sallyport.accounts.assess(request, EVENT), { id: decision?.id, ...WANTED })
})
