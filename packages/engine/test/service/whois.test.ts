import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClosed } from '#net'
import { parseConfig } from '../../src/config/read.ts'
import { open } from '../../src/open/open.ts'
import { createWhoisOf } from '../../src/service/whois.ts'
import { madeConfig } from '../open/made-sources.ts'

const RDAP = 'application/rdap+json'

/** A world outside in which nobody answers. */
const UNREACHABLE = createClosed('not reachable')

async function listen(t: Test, server: ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A registry on loopback: RDAP over HTTP, a bootstrap file among the sources that names it, and port 43. `asked` is what it was asked, in order. */
async function openRegistry(t: Test, port43: (question: string) => string, rdap?: RequestListener) {
  const asked: string[] = []
  const web = createServer((request, response) => {
    asked.push(String(request.url))
    return rdap?.(request, response)
  })
  const port = await listen(t, web)
  const whoisPort = await listen(
    t,
    createTcpServer((socket) => {
      socket.on('data', (chunk) => {
        asked.push(String(chunk))
        socket.end(port43(String(chunk).trim()))
      })
    }),
  )
  // As many names as the published file has: less is refused as not plausible. Some have http alone there too.
  const names = Array.from({ length: 600 }, (_, index) => `x${index}`)
  const services = [
    [['de'], rdap === undefined ? [] : [`http://127.0.0.1:${port}/rdap/`]],
    [names, ['http://rdap.example/']],
  ]
  const made = madeConfig(t.testdir(), { 'rdap-dns': JSON.stringify({ version: '1.0', services }) })
  const whois = { servers: { de: `127.0.0.1:${whoisPort}` } }
  return { asked, config: { ...made, whois, net: { allowPrivate: ['127.0.0.0/8'] } } }
}

/** Opens a service and calls its WHOIS route. */
async function openCalling(t: Test, config: Parameters<typeof open>[0]) {
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  const { key } = await sallyport.keyring.issue({ plan: 'free', name: 'Test' })
  return async (domain: string) => {
    const target = `/v1/whois/${domain}`
    const answer = await sallyport.api({
      peer: '8.1.0.1',
      method: 'GET',
      target,
      scheme: 'http',
      httpVersion: '1.1',
      fields: ['Authorization', `Bearer ${key}`],
      path: target,
      query: new URLSearchParams(),
      json: async () => undefined,
    })
    return { status: answer?.status, json: JSON.parse(String(answer?.body)) }
  }
}

t.test('the bootstrap file among the sources says where RDAP is, and one answer serves many', async (t) => {
  const { asked, config } = await openRegistry(
    t,
    () => 'Status: free',
    (request, response) => {
      const known = request.url === '/rdap/domain/example.de'
      response.writeHead(known ? 200 : 404, { 'content-type': RDAP })
      response.end(JSON.stringify({ objectClassName: 'domain', ldhName: 'example.de', status: ['active'] }))
    },
  )
  const call = await openCalling(t, config)
  const record = { domain: 'example.de', nameservers: [], status: ['ok'], privacyProtection: false }
  for (const name of ['example.de', 'www.example.de']) t.strictSame(await call(name), { status: 200, json: record })
  t.match(await call('nobody.de'), { status: 400, json: { error: 'domain_not_found' } })
  t.strictSame(asked, ['/rdap/domain/example.de', '/rdap/domain/nobody.de'])
})

t.test('loopback is not reached unless the configuration allows it', async (t) => {
  const { asked, config } = await openRegistry(t, () => 'Status: free')
  const call = await openCalling(t, { ...config, net: {} })
  t.match(await call('example.de'), { status: 503 })
  t.strictSame(asked, [])
})

t.test('a refreshed bootstrap file goes before the one that is shipped', async (t) => {
  const services = (url: string) => JSON.stringify({ services: [[['com'], [url]]] })
  const folder = t.testdir({
    first: services('https://first.example/'),
    second: services('https://second.example/'),
    bad: '{',
  })
  const asked: string[] = []
  let file: string | undefined = join(folder, 'first')
  const whois = createWhoisOf(parseConfig({}), {
    clock: { now: () => Date.now() },
    outbound: {
      port43: UNREACHABLE,
      fetch: {
        async fetch({ url }) {
          asked.push(new URL(url).host)
          return { state: 'failed', reason: 'not asked outside' }
        },
      },
    },
    bootstrapFile: () => file,
  })
  const find = (domain: string) => whois.find({ domain, tld: 'com' })
  await find('a.com')
  await find('b.com')
  file = join(folder, 'second')
  await find('c.com')
  for (const missing of [join(folder, 'bad'), join(folder, 'none'), undefined]) {
    file = missing
    await find(`${asked.length}.com`)
  }
  const shipped = 'rdap.verisign.com'
  t.strictSame(asked, ['first.example', 'first.example', 'second.example', shipped, shipped, shipped])
})

t.test('an unusable value is refused by its key', async (t) => {
  const made = madeConfig(t.testdir())
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ net: { allowPrivate: ['loopback'] } }, /net\.allowPrivate: "loopback" is not a CIDR/],
    [{ whois: { servers: { de: 'whois.denic.de' } } }, /whois\.servers\.de: must be host:port/],
    [{ whois: { servers: { '.de': 'whois.denic.de:43' } } }, /whois\.servers/],
    [{ whois: { server: {} } }, /unknown key "whois\.server"/],
  ]
  for (const [config, message] of wrong) {
    await t.rejects(open({ ...made, ...config }), { code: 'invalid_config', message }, JSON.stringify(config))
  }
})
