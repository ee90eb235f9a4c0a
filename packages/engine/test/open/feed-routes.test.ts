import { createServer } from 'node:http'
import { createFakeDns } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { madeList, openFeedServer } from '#datasets/testing'
import { listening } from '#stores/testing'
import { type ConfigInput, open, openUpdates } from '../../src/open/index.ts'
import { feedConfig } from './made-sources.ts'
import { callApi, requestFrom } from './requests.ts'

/* How feeds come in where nothing leaves a network but through a proxy, or at all: and that nothing else goes that way. */

const LIST = 'x4bnet-vpn-ipv4'
const KEYED = 'maxmind-geolite2-city'

/** Every other feed is off. */
function makeConfig(folder: string, data: NonNullable<ConfigInput['data']>): ConfigInput {
  const sources = { [LIST]: { enabled: true }, ...data.sources }
  return { ...feedConfig(folder, {}, { ...data, sources }), dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 } }
}

/** Sets variables of proxies for one test, and no others. */
function setEnvironment(t: Test, given: Readonly<Record<string, string>>): void {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  const before = { ...process.env }
  for (const name of names) process.env[name] = given[name] ?? ''
  t.teardown(() => {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })
}

/** A proxy that refuses every CONNECT and remembers its target. */
async function openRefusingProxy(t: Test) {
  const targets: (string | undefined)[] = []
  const server = createServer()
  server.on('connect', (request, socket) => {
    targets.push(request.url)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  return { targets, url: `http://127.0.0.1:${await listening(t, server)}` }
}

t.test('a mirror is asked for each published feed under its id, and never sees a key', async (t) => {
  const mirror = await openFeedServer(t)
  mirror.serve(`/sallyport/${LIST}`, madeList(20_000))
  const sources = { [KEYED]: { enabled: true, key: 'account:secret' }, aws: { url: mirror.url('/mine') } }
  const config = makeConfig(t.testdir(), { mirror: `${mirror.origin}/sallyport/`, sources })
  const outcomes = new Map((await openUpdates(config).update()).map((outcome) => [outcome.source, outcome]))
  t.match(outcomes.get(LIST), { state: 'updated', entries: 20_000 })
  t.match(outcomes.get(KEYED), { state: 'failed', reason: 'the server responded with status 404' })
  t.strictSame(mirror.asked.map(({ url }) => url).toSorted(), ['/mine', `/sallyport/${KEYED}`, `/sallyport/${LIST}`])
  t.ok(mirror.asked.every(({ headers }) => headers.authorization === undefined))
  const [again] = await openUpdates(config).update({ source: LIST })
  t.match(again, { state: 'unchanged' })
  const { length } = mirror.asked
  const [closed] = await openUpdates({ ...config, net: {} }).update({ source: LIST })
  t.match(closed, { state: 'failed', reason: /not a public address/ })
  t.equal(mirror.asked.length, length, 'a mirror inside is not asked where net.allowPrivate does not open it')
})

t.test('feeds go through the proxy of the environment, unless NO_PROXY names their host', async (t) => {
  const proxy = await openRefusingProxy(t)
  setEnvironment(t, { HTTPS_PROXY: proxy.url, NO_PROXY: 'mirror.example,.inside.example' })
  const published = makeConfig(t.testdir(), {})
  t.match(await openUpdates(published).update({ source: LIST }), [
    { state: 'failed', reason: 'the proxy responded with status 403' },
  ])
  t.match(proxy.targets[0], /^[a-z.]+:443$/)
  const asked = proxy.targets.length
  for (const mirror of ['https://mirror.example', 'https://lists.inside.example']) {
    const config = makeConfig(t.testdir(), { mirror })
    t.match(await openUpdates(config).update({ source: LIST }), [{ state: 'failed', reason: /example: / }])
  }
  t.equal(proxy.targets.length, asked)
})

t.test('a proxy that is no URL fails the download and is not repeated', async (t) => {
  setEnvironment(t, { HTTPS_PROXY: 'socks5://user:secret@127.0.0.1:1' })
  const outcomes = await openUpdates(makeConfig(t.testdir(), {})).update({ source: LIST })
  t.match(outcomes, [{ state: 'failed', reason: 'HTTPS_PROXY is not an http or https URL' }])
})

t.test('a URL that a visitor, a registry or a key directory names never goes through the proxy', async (t) => {
  const proxy = await openRefusingProxy(t)
  setEnvironment(t, { HTTPS_PROXY: proxy.url, https_proxy: proxy.url, ALL_PROXY: proxy.url, HTTP_PROXY: proxy.url })
  const names: string[] = []
  const none = createFakeDns({})
  const resolve = (name: string) => {
    names.push(name)
    return none.resolve(name)
  }
  const webBotAuth = { agents: ['https://agent.example', '*'] }
  const hooks = { dns: { ...none, resolve }, onNotice() {}, onFault() {} }
  const sallyport = await open({ ...makeConfig(t.testdir(), {}), webBotAuth }, hooks)
  const { key } = await sallyport.keyring.issue({ plan: 'free', name: 'Test' })
  await callApi(sallyport, '/v1/whois/example.uk', key)
  const now = Math.floor(Date.now() / 1000)
  const covered = `("@authority" "signature-agent");created=${now};expires=${now + 60};keyid="x";tag="web-bot-auth"`
  const fields = Object.entries({
    Host: 'shop.example',
    'Signature-Agent': '"https://named.example"',
    'Signature-Input': `sig1=${covered}`,
    Signature: 'sig1=:AAAA:',
  })
  sallyport.decide({ ...requestFrom('8.1.0.2', fields.flat()), scheme: 'https' })
  while (!['agent.example', 'rdap.nominet.uk'].every((name) => names.includes(name))) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await sallyport.close()
  t.strictSame(proxy.targets, [])
})
