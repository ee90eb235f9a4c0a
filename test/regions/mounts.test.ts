import type { ConfigInput } from '@sallyport/engine'
import { inspection } from '@sallyport/fetch'
import { listener } from '@sallyport/node'
import { startOrigin, startProxy } from '../hosts/proxy.ts'
import { CARRIER, TEXAN, testCities } from './cities.ts'

/* A policy of one mount knows regions from its first request on, where no other rule asks for them. */

const RULE = { id: 'texas', match: { region: ['US-TX'] }, unknown: 'ignore' } as const
const POLICY = [{ ...RULE, action: 'block', status: 451 }] as const
const SERVICE: ConfigInput = { trustProxy: ['loopback'], policy: { preset: 'observe' } }
const LAWFUL = [451, '</>; rel="blocked-by"'] as const

async function ask(url: string): Promise<readonly [number, string | null]> {
  const { status, headers } = await fetch(url, { headers: { 'x-forwarded-for': TEXAN } })
  return [status, headers.get('link')]
}

testCities('in a server of Node, and a second mount waits as well', SERVICE, async (t, sallyport) => {
  const shop = listener(sallyport, (_req, res) => void res.end('shop'), { policy: [...POLICY] })
  const other = listener(sallyport, (_req, res) => void res.end('other'), { policy: [...POLICY] })
  const url = await startOrigin(t, (req, res) => void (req.url === '/other' ? other : shop)(req, res))
  t.same(await Promise.all([ask(url), ask(`${url}/other`)]), [LAWFUL, LAWFUL])
  t.equal(sallyport.decider({ policy: [...POLICY] }).opening instanceof Promise, true)
  t.equal(sallyport.decider({ policy: 'observe' }).opening, undefined)
})

testCities('in a server of the web', SERVICE, async (t, sallyport) => {
  const inspect = inspection(sallyport, { policy: [...POLICY] })
  const { response } = await inspect(new Request('http://site.example/'), { address: TEXAN })
  t.same([response?.status, response?.headers.get('link')], LAWFUL)
})

testCities('on a route of the proxy, also where a target may be read as that route', SERVICE, async (t, sallyport) => {
  const upstream = await startOrigin(t, (_req, res) => void res.end('page'))
  const routes = [{ path: '/adult', policy: [...POLICY] }]
  const { url } = await startProxy(t, sallyport, { upstream, paths: 'pass', routes })
  const answers = await Promise.all(['/%61dult/1', '/adult/1', '/'].map((path) => ask(url + path)))
  t.same(answers, [LAWFUL, LAWFUL, [200, null]])
})

testCities(
  'the application reads the region, or that it is unknown, and no word of the client',
  SERVICE,
  async (t, sallyport) => {
    const policy = [{ ...RULE, action: 'flag' } as const]
    const url = await startOrigin(
      t,
      listener(sallyport, (req, res) => void res.end(req.headers['sallyport-region']), { policy }),
    )
    const read = async (address: string) => {
      const headers = { 'x-forwarded-for': address, 'Sallyport-Region': 'US-NY' }
      return (await fetch(url, { headers })).text()
    }
    t.same([await read(TEXAN), await read(CARRIER)], ['US-TX', 'unknown'])
  },
)
