import t from 'tap'
import { agentInspector, requestOf } from './agents.ts'

const { decide } = agentInspector()

function inspected(userAgent: string) {
  const fields = ['Host', 'a.example', 'User-Agent', userAgent, 'Accept', 'text/html,*/*;q=0.8']
  const more = ['Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate']
  return decide(requestOf([...fields, ...more], { scheme: 'http' })).inspection
}

const WEB_VIEW =
  'Mozilla/5.0 (Linux; Android 14; SM-S918N; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.6668.81 Mobile Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
const CFNETWORK = 'CFNetwork/1498.700.2 Darwin/23.6.0'

t.test('a WebView of Android is an application’s', async (t) => {
  const { agent, crawler } = inspected(`${WEB_VIEW} WhatsApp/2.2`)
  t.match({ agent, crawler }, { agent: { class: 'human' }, crawler: undefined })
})

t.test('a link, “compatible”, a whole Safari and one without its device are no application’s', async (t) => {
  for (const text of [
    `WhatsApp/2.2 (+https://probe.example/) ${CFNETWORK}`,
    `WhatsApp/2.2 (compatible) ${CFNETWORK}`,
    `${IPHONE.replace('Mobile', 'Version/17.5 Mobile')} Safari/604.1 WhatsApp/2.2`,
    `${IPHONE.replace(' Mobile/15E148', '')} WhatsApp/2.2`,
  ]) {
    t.match(inspected(text).agent, { class: 'unverified_bot', identity: { name: 'whatsapp' } }, text)
  }
})
