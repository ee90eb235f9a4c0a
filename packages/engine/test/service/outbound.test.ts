import { type Address, parseAddress } from '@sallyport/core'
import t, { type Test } from 'tap'
import { openFeedServer } from '#datasets/testing'
import { doctor, openUpdates, type Sallyport } from '../../src/open/index.ts'
import { openNameServer } from '../net/name-server.ts'
import { feedConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

const LIST = 'x4bnet-vpn-ipv4'

/** Everything that would go out, at addresses of this machine. */
async function everything(t: Test, outbound: boolean) {
  const [names, web] = [await openNameServer(t, () => 'silent'), await openFeedServer(t)]
  web.serve(`/${LIST}`, '8.2.7.0/24\n')
  const config = {
    ...feedConfig(t.testdir(), { [LIST]: web.url(`/${LIST}`) }, { refresh: true }),
    net: { outbound, allowPrivate: ['127.0.0.0/8'] },
    dns: { servers: [names.address], timeoutMs: 100 },
    webBotAuth: { agents: [web.origin] },
  }
  return { config, asked: () => names.asked.length + web.asked.length }
}

/** A request that claims to be Googlebot and is signed by an agent whose key is not known yet. */
function decide(sallyport: Sallyport, agent: string) {
  const now = Math.floor(Date.now() / 1000)
  const covered = `("@authority" "signature-agent");created=${now};expires=4102444800;keyid="k";tag="web-bot-auth"`
  const fields = Object.entries({
    Host: 'site.example',
    'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Signature-Agent': `"${agent}"`,
    Signature: 'sig=:AAAA:',
    'Signature-Input': `sig=${covered}`,
  })
  return sallyport.decide({ ...requestFrom('8.9.9.9', fields.flat()), scheme: 'https' })
}

async function useAll(t: Test, outbound: boolean) {
  const { config, asked } = await everything(t, outbound)
  const sallyport = await openService(t, config, { onFault: () => {} })
  const { agent } = decide(sallyport, config.webBotAuth.agents[0] ?? '').inspection
  const crawler = await sallyport.knowledge.crawlers.verify(parseAddress('8.9.9.9') as Address, { bot: 'googlebot' })
  const lookup = await sallyport.lookup('site.example').catch((error: unknown) => error)
  const whois = await sallyport.knowledge.whois.find({ domain: 'example.com', tld: 'com' })
  const updated = await openUpdates(config).update({ source: LIST })
  return { agent, crawler, lookup, whois, updated, asked, config }
}

t.test('with net.outbound: false nothing leaves, and what could not be asked is said to be unknown', async (t) => {
  const { agent, crawler, whois, updated, asked, config } = await useAll(t, false)
  t.equal(agent.class, 'unverified_bot')
  t.match(crawler, { outcome: 'unverifiable' })
  t.match(whois, { state: 'failed' })
  t.match(JSON.stringify(updated), /net\.outbound is false/)
  t.match(
    (await doctor(config)).find(({ check }) => check === 'dns'),
    { state: 'ok', found: /net\.outbound is false/ },
  )
  t.equal(asked(), 0)
})

t.test('the same asks each of them otherwise', async (t) => {
  const { asked, updated } = await useAll(t, true)
  t.notMatch(JSON.stringify(updated), /net\.outbound/)
  t.ok(asked() >= 4, `${asked()} questions`)
})
