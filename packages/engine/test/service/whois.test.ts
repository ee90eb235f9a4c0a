import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClosed } from '#net'
import { parseConfig } from '../../src/config/parse.ts'
import { open } from '../../src/open/open.ts'
import { openWhois } from '../../src/service/whois.ts'
import { madeConfig } from '../open/made-sources.ts'

const RDAP = 'application/rdap+json'

/** No server outside can be reached. */
const UNREACHABLE = createClosed('not reachable')

async function listen(t: Test, server: ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Opens a registry on loopback: RDAP over HTTP, a bootstrap file that names it, and port 43. `asked` lists its requests in order. */
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

/** Opens a service; `call` calls its WHOIS route for an account, `issue` adds an account. */
async function openService(t: Test, config: Parameters<typeof open>[0]) {
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  const issue = async (name: string) => (await sallyport.keyring.issue({ plan: 'free', name })).key
  const call = async (key: string, domain: string) => {
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
  return { issue, call }
}

async function openCalling(t: Test, config: Parameters<typeof open>[0]) {
  const { issue, call } = await openService(t, config)
  const key = await issue('Test')
  return (domain: string) => call(key, domain)
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

t.test('an account with many questions to a slow registry does not shut out another', async (t) => {
  const held: Socket[] = []
  const port = await listen(
    t,
    createTcpServer((socket) => {
      t.teardown(() => socket.destroy())
      socket.on('data', (chunk) => {
        if (String(chunk).includes('small')) socket.end('Status: free')
        else held.push(socket)
      })
    }),
  )
  const whois = { servers: { de: `127.0.0.1:${port}` } }
  const { issue, call } = await openService(t, {
    ...madeConfig(t.testdir()),
    whois,
    net: { allowPrivate: ['127.0.0.0/8'] },
  })
  const [large, small] = [await issue('Large'), await issue('Small')]
  const asked = Array.from({ length: 4 + 16 + 5 }, (_, at) => call(large, `large${at}.de`))
  const refused = (await Promise.all(asked.slice(20))).map(({ status }) => status)
  t.strictSame(refused, [429, 429, 429, 429, 429], 'only so much of an account waits')
  for (const name of ['small.de', 'small2.de']) {
    t.match(await call(small, name), { status: 400, json: { error: 'domain_not_found' } }, name)
  }
  t.ok(held.length >= 4)
  for (const socket of held) socket.end('Status: free')
})

t.test('a registry is asked five questions at once, and an account that used them all up gives way', async (t) => {
  const { asked, config } = await openRegistry(t, () => 'Status: free')
  const { issue, call } = await openService(t, config)
  const [large, small] = [await issue('Large'), await issue('Small')]
  const statuses: (number | undefined)[] = []
  const all = Array.from({ length: 20 }, async (_, at) => {
    const { status } = await call(large, `large${at}.de`)
    statuses.push(status)
    return status
  })
  while (statuses.length < 18) await new Promise((resolve) => setImmediate(resolve))
  t.equal(asked.length, 5)
  t.equal(statuses.filter((status) => status === 503).length, 13, 'two wait')
  // The second was refused to the other account, which is no answer to this one.
  for (const name of ['small.de', 'large19.de']) t.match(await call(small, name), { status: 400 }, name)
  t.equal((await Promise.all(all)).filter((status) => status === 503).length, 14, 'and the other gave way')
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
  const whois = openWhois(parseConfig({}), {
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
