import { CRAWLERS } from '@sallyport/data/crawlers'
import t from 'tap'
import { createUserAgentReader } from '../src/agent/user-agent.ts'
import { compilePolicy, createCatalogue } from '../src/index.ts'
import { agentInspector, CHROME, makeFields, makeRequest, RACK } from './agents.ts'

const { read } = createUserAgentReader(createCatalogue())
const from = (userAgent: string) => makeRequest(['Host', 'a.example', 'User-Agent', userAgent], { peer: RACK })
const link = (name: string, site: string) => `Mozilla/5.0 (compatible; ${name}/1.0; +https://${site}/bot)`

t.test('a program that describes itself as an AI is one, whoever it is of', async (t) => {
  const { inspect } = agentInspector()
  const named: Readonly<Record<string, object>> = {
    [link('FooCrawler', 'foo.ai')]: { name: 'foo.ai', vendor: 'foo.ai' },
    [link('FooAIBot', 'www.foo.ai')]: { name: 'FooAIBot', vendor: 'foo.ai' },
    'Acme-AI-fetcher-bot/1.0': { name: 'Acme-AI-fetcher-bot', vendor: 'unknown' },
    'LLM-spider/2 (crawl@lab.ai)': { name: 'LLM-spider', vendor: 'lab.ai' },
    'OurGPT-crawler/1.0': { name: 'OurGPT-crawler', vendor: 'unknown' },
  }
  for (const [userAgent, ai] of Object.entries(named))
    t.match(inspect(from(userAgent)).agent, { class: 'ai_agent', basis: 'ai-name', ai }, userAgent)
  const others = ['foo.aid', 'ai.example', 'foo.ai.example'].map((site) => link('FooBot', site))
  for (const userAgent of [...others, 'MAILbot/1.0', 'Airbot/1.0', 'TRAIN-crawler/1', 'curl/8.5.0'])
    t.match(inspect(from(userAgent)).agent, { class: 'unverified_bot', ai: undefined }, userAgent)
  t.equal(read(`${CHROME['User-Agent']}`)?.ai, undefined)
  t.equal(read('ChatGPT-AI/1.2 CFNetwork/1498.700.2 Darwin/23.6.0')?.ai, undefined, 'an application of a person')
  const long = read(`${'AI.'.repeat(300)}${'//x@'.repeat(400)} bot`)
  t.ok(long !== undefined, 'a made one is read at once')
})

t.test('purpose: [ai] matches whatever is or says that it is an AI, and nothing else', async (t) => {
  const rules = [{ id: 'ai', match: { purpose: ['ai' as const] }, action: 'block' as const }]
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'observe', rules }) })
  const action = (userAgent: string) => decide(from(userAgent)).action
  const ai = ['training', 'ai-search', 'user-fetch', 'agent']
  const others = ['google-inspectiontool', 'google-site-verification', 'google-read-aloud']
  const wrong = CRAWLERS.filter(({ status, tokens }) => status === undefined && tokens.length > 0).filter(
    ({ slug, purpose, tokens: [token = ''] }) => {
      const isAi = ai.includes(purpose) && !others.includes(slug)
      return (action(`${token.replace(/\/$/, '')}/1.0 (bot)`) === 'block') !== isAi
    },
  )
  const odd = wrong.map(({ slug }) => slug)
  t.same(odd, [])
  t.equal(action(link('Unheard', 'unheard.ai')), 'block')
  t.equal(action('kagi-fetcher/1.0'), 'block', 'an assistant whose name does not say so')
  t.equal(decide(makeRequest(makeFields(CHROME), { peer: RACK })).action, 'allow')
  t.throws(() =>
    compilePolicy({ preset: 'observe', rules: [{ id: 'a', match: { purpose: ['AI'] }, action: 'block' }] } as never),
  )
})

t.test('a comment as crawlers have it is no browser’s', async (t) => {
  const whole =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
  const shown = (text: string) => read(text)?.automation !== undefined
  t.ok(shown(`${whole} (compatible; NameFo; https://shop.example/)`))
  t.ok(shown('Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0; http://probe.example/)'))
  t.ok(shown('Mozilla/5.0 (Windows NT 6.1; Win64; x64; rv:25.0; https://app.example) Gecko/20100101 Firefox/25.0'))
  const toolbar =
    'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; User-agent: Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1); .NET CLR 2.0.50727) Sleipnir/2.8.4'
  t.notOk(shown(toolbar), 'a toolbar repeats the header')
})
