import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Fetch } from '@sallyport/core'
import t, { type Test } from 'tap'
import { createClosed } from '#net'
import { listening } from '#stores/testing'
import { parseConfig } from '../../src/config/parse.ts'
import type { ConfigInput } from '../../src/config/schema.ts'
import { openWhois } from '../../src/service/whois.ts'
import { openTcpServer } from '../net/web-server.ts'
import { madeConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'
import { callApi } from '../open/requests.ts'

const FREE = 'Status: free'
const net = { allowPrivate: ['127.0.0.0/8'] }

/** Opens a registry on loopback: RDAP over HTTP, a bootstrap file that names it, and port 43. `asked` lists its requests in order. */
async function openRegistry(t: Test, rdap?: RequestListener) {
  const asked: string[] = []
  const web = createServer((request, response) => {
    asked.push(String(request.url))
    return rdap?.(request, response)
  })
  const port = await listening(t, web)
  const whoisPort = await openTcpServer(t, (socket) =>
    socket.on('data', (chunk) => {
      asked.push(String(chunk))
      socket.end(FREE)
    }),
  )
  // As many names as the published file has: less is refused as not plausible. Some have http alone there too.
  const names = Array.from({ length: 600 }, (_, index) => `x${index}`)
  const services = [
    [['de'], rdap === undefined ? [] : [`http://127.0.0.1:${port}/rdap/`]],
    [names, ['http://rdap.example/']],
  ]
  const made = madeConfig(t.testdir(), { 'rdap-dns': JSON.stringify({ version: '1.0', services }) })
  return { asked, config: { ...made, whois: { servers: { de: `127.0.0.1:${whoisPort}` } }, net } }
}

/** Opens a service with two accounts; `ask` calls its WHOIS route for the first, `other` for the second. */
async function openAccounts(t: Test, config: ConfigInput) {
  const sallyport = await openService(t, config)
  const account = async (name: string) => {
    const { key } = await sallyport.keyring.issue({ plan: 'free', name })
    return (domain: string) => callApi(sallyport, `/v1/whois/${domain}`, key)
  }
  return { ask: await account('Large'), other: await account('Small') }
}

t.test('the bootstrap file among the sources says where RDAP is, and one answer serves many', async (t) => {
  const { asked, config } = await openRegistry(t, (request, response) => {
    const known = request.url === '/rdap/domain/example.de'
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/rdap+json' })
    response.end(JSON.stringify({ objectClassName: 'domain', ldhName: 'example.de', status: ['active'] }))
  })
  const { ask } = await openAccounts(t, config)
  const record = { domain: 'example.de', nameservers: [], status: ['ok'], privacyProtection: false }
  for (const name of ['example.de', 'www.example.de']) {
    const { status, json } = await ask(name)
    t.strictSame([status, json], [200, record])
  }
  t.match(await ask('nobody.de'), { status: 400, json: { error: 'domain_not_found' } })
  t.strictSame(asked, ['/rdap/domain/example.de', '/rdap/domain/nobody.de'])
})

t.test('loopback is not reached unless the configuration allows it', async (t) => {
  const { asked, config } = await openRegistry(t)
  const { ask } = await openAccounts(t, { ...config, net: {} })
  t.match(await ask('example.de'), { status: 503 })
  t.strictSame(asked, [])
})

t.test('an account with many questions to a slow registry does not shut out another', async (t) => {
  const held: Socket[] = []
  const port = await openTcpServer(t, (socket) => {
    t.teardown(() => socket.destroy())
    socket.on('data', (chunk) => {
      if (String(chunk).includes('small')) socket.end(FREE)
      else held.push(socket)
    })
  })
  const whois = { servers: { de: `127.0.0.1:${port}` } }
  const { ask, other } = await openAccounts(t, { ...madeConfig(t.testdir()), whois, net })
  const asked = Array.from({ length: 4 + 16 + 5 }, (_, at) => ask(`large${at}.de`))
  const refused = (await Promise.all(asked.slice(20))).map(({ status }) => status)
  t.strictSame(refused, [429, 429, 429, 429, 429], 'only so much of an account waits')
  for (const name of ['small.de', 'small2.de']) {
    t.match(await other(name), { status: 400, json: { error: 'domain_not_found' } }, name)
  }
  t.ok(held.length >= 4)
  for (const socket of held) socket.end(FREE)
})

t.test('a registry is asked five questions at once, and an account that used them all up gives way', async (t) => {
  const { asked, config } = await openRegistry(t)
  const { ask, other } = await openAccounts(t, config)
  const statuses: number[] = []
  const all = Array.from({ length: 20 }, async (_, at) => statuses.push((await ask(`large${at}.de`)).status))
  const countRefused = () => statuses.filter((status) => status === 503).length
  while (statuses.length < 18) await new Promise((resolve) => setImmediate(resolve))
  t.equal(asked.length, 5)
  t.equal(countRefused(), 13, 'two wait')
  // The second was refused to the other account, which is no answer to this one.
  for (const name of ['small.de', 'large19.de']) t.match(await other(name), { status: 400 }, name)
  await Promise.all(all)
  t.equal(countRefused(), 14, 'and the other gave way')
})

t.test('a refreshed bootstrap file goes before the one that is shipped', async (t) => {
  // The first address with https is read.
  const services = (url: string) => JSON.stringify({ services: [[['COM'], ['http://plain.example/', url]]] })
  const folder = t.testdir({
    first: services('https://first.example/'),
    second: services('https://second.example/'),
    bad: '{',
  })
  const asked: string[] = []
  const fetch: Fetch = {
    async fetch({ url }) {
      asked.push(new URL(url).host)
      return { state: 'failed', reason: 'not asked outside' }
    },
  }
  let file: string | undefined = join(folder, 'first')
  const whois = openWhois(parseConfig({}), {
    clock: { now: () => Date.now() },
    outbound: { port43: createClosed('not reachable'), fetch },
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
