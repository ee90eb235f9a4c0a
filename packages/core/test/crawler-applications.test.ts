import { CRAWLERS } from '@sallyport/data/crawlers'
import t from 'tap'
import { agentInspector, applicationForms, electron, IPHONE, plainRequest } from './agents.ts'
import { splitWords } from './support.ts'

const { decide } = agentInspector()

const decided = (userAgent: string) => decide(plainRequest(userAgent))
const judged = (userAgent: string) => decided(userAgent).inspection.agent

const CFNETWORK = 'CFNetwork/1498.700.2 Darwin/23.6.0'

t.test('the application of a crawler’s name claims nothing, and the crawler claims what it did', async (t) => {
  for (const name of ['Bluesky/1.97', 'WhatsApp/2.2049', 'Daum/7.3', 'QuillBot/2.1', 'NotebookLM/1.2']) {
    // A name that ends as a program's is excused by what it is built on alone.
    const further = name.includes('Bot') ? [] : [`${IPHONE} ${name}`, `${name} (iPhone; iOS 17.5; Scale/3.00)`]
    for (const text of [`${name} ${CFNETWORK}`, ...further]) {
      const { agent, crawler } = decided(text).inspection
      t.match({ agent, crawler }, { agent: { class: 'human' }, crawler: undefined }, text)
    }
  }
  t.match(judged(electron('WhatsApp/2.2049.10')), { class: 'human' })
  for (const [text, expected] of [
    ['WhatsApp/2.23.20.0', { class: 'unverified_bot', identity: { name: 'whatsapp' } }],
    ['Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:a@bsky.app)', { identity: { name: 'bluesky' } }],
    ['Mozilla/5.0 (compatible; Daum/4.1; +http://cs.daum.example)', { identity: { name: 'daumoa' } }],
    [`GPTBot/1.0 ${CFNETWORK}`, { class: 'ai_agent', identity: { name: 'gptbot' } }],
    [electron('GPTBot/1.0'), { class: 'ai_agent', identity: { name: 'gptbot' } }],
    [`WhatsApp/2.2 GPTBot/1.0 ${CFNETWORK}`, { class: 'ai_agent', identity: { name: 'gptbot' } }],
    [`QuillBot/2.1 Thinkbot/1.0 ${CFNETWORK}`, { class: 'ai_agent', ai: { name: 'Thinkbot' } }],
    ['QuillBot/2.1', { class: 'ai_agent', ai: { name: 'QuillBot' } }],
    [`Trae/1.107.1 Chrome/142.0 Electron/39.2.7`, { class: 'ai_agent' }],
  ] as const)
    t.match(judged(text), expected, text)
})

/** Plain words that no application has for its name. */
const CRAWLERS_ALONE = splitWords(`
  Anomura Awario Barkrowler Blogtrottr Checkly Cotoyogi Embedly Iframely Lightpanda Panscient Qwantify Selfoss
  Superfeedr facebookcatalog facebookexternalhit img2dataset newsai omgili rawdog webzio
`)

t.test('a crawler that is called by a plain word is one that applications may be called by', async (t) => {
  const rows = CRAWLERS.flatMap(({ tokens, application }) =>
    tokens.map((token) => ({ name: token.replace(/\/$/, ''), application })),
  ).filter(({ name }) => /^[A-Za-z][a-z0-9]+$/.test(name) && !/(?:bot|spider|crawler|user)$/i.test(name))
  const plain = rows.filter(({ application }) => application === undefined).map(({ name }) => name)
  t.same(plain.toSorted(), CRAWLERS_ALONE.toSorted(), 'a new row says whether it is an application’s name too')
  for (const { name, application } of rows.filter((row) => row.application !== undefined)) {
    for (const text of applicationForms(name)) {
      const { agent, crawler } = decided(text).inspection
      t.match({ agent, crawler }, { agent: { class: 'human' }, crawler: undefined }, text)
    }
    const { agent } = decided(electron(`${name}/3.1`)).inspection
    t.equal(agent.class, application === true ? 'human' : 'ai_agent', `${name} in Electron`)
    for (const text of [`${name}/3.1`, `Mozilla/5.0 (compatible; ${name}/3.1; +https://crawler.example/)`])
      t.not(judged(text).class, 'human', text)
  }
  for (const text of [`NaverBot/1.0 ${CFNETWORK}`, `NaverBot/1.0 (iPhone; iOS 17.5; Scale/3.00)`])
    t.match(decided(text).inspection.crawler, { slug: 'yeti' }, text)
  t.match(decided('Mozilla/5.0 (compatible; Yeti/1.1; +https://naver.me/spd)').inspection.crawler, { slug: 'yeti' })
})

t.test('no other name of the catalogue gets out by being written as an application', async (t) => {
  const crawlers = CRAWLERS.filter(({ application }) => !application).flatMap(({ tokens }) => tokens)
  const forms = (name: string) => [`${name}/1.0 ${CFNETWORK}`, electron(`${name}/1.0`), `${IPHONE} ${name}/1.0`]
  const names = crawlers.map((name) => name.replace(/\/$/, ''))
  t.ok(names.length > 200)
  const wrong = names.flatMap(forms).filter((text) => judged(text).class === 'human')
  t.same(wrong, [])
})

t.test('a link, “compatible”, a whole Safari and one without its device are no application’s', async (t) => {
  for (const text of [
    `WhatsApp/2.2 (+https://probe.example/) ${CFNETWORK}`,
    `WhatsApp/2.2 (compatible) ${CFNETWORK}`,
    `${IPHONE.replace('Mobile', 'Version/17.5 Mobile')} Safari/604.1 WhatsApp/2.2`,
    `${IPHONE.replace(' Mobile/15E148', '')} WhatsApp/2.2`,
  ])
    t.match(judged(text), { class: 'unverified_bot', identity: { name: 'whatsapp' } }, text)
})
