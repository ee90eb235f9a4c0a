import t from 'tap'
import { createNamedList, readListEntries } from '../../src/lists/named-list.ts'
import { compileAgents } from '../../src/policy/language/agent-names.ts'

const GPTBOT =
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot-page)'
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36'

t.test('a name is a word of a user agent, and a permission needs the whole', (t) => {
  for (const [pattern, text, asWord, asWhole] of [
    ['GPTBot', GPTBOT, true, false],
    ['=GPTBot', GPTBOT, false, false],
    ['=GPTBot', 'gptbot', true, true],
    ['GPT', GPTBOT, false, false],
    ['*gptbot*', GPTBOT, true, true],
    ['/GPTBot/', GPTBOT, true, true],
    ['got', 'forgotten/1 got (https://x.example)', true, false],
    ['Bingbot/', 'x (bingbot/2.0)', true, false],
    ['+https://openai.com/gptbot-page', GPTBOT, true, false],
    ['(KHTML, like Gecko; compatible; GPTBot', GPTBOT, true, false],
    ['Mozilla/5.0', CHROME, false, false],
    ['', CHROME, false, false],
  ] as const) {
    t.equal(compileAgents([pattern], {}, false)(text), asWord, `${pattern} as a word of ${text}`)
    t.equal(compileAgents([pattern], {}, true)(text), asWhole, `${pattern} as the whole of ${text}`)
  }
  t.end()
})

t.test('many names are found as few are, also in a list', (t) => {
  const others = Array.from({ length: 500 }, (_, at) => `Crawler${at}`)
  const names = ['GPTBot', '+https://x.example/', 'Claude Web', 'Claude-SearchBot', ...others]
  const list = createNamedList(readListEntries([...names, '=curl', '203.0.113.7']))
  const lists = new Map([['names', list]])
  for (const matches of [compileAgents(names, {}, false), compileAgents(['list:names'], { lists }, false)]) {
    for (const text of [GPTBOT, 'x claude web', 'y (+https://x.example/bot)', 'Claude-SearchBot/1', 'a (CRAWLER499)'])
      t.ok(matches(text), text)
    for (const text of [CHROME, 'Claude', 'Claude-SearchBots', 'Crawler500', 'curl/8']) t.notOk(matches(text), text)
  }
  t.notOk(compileAgents(['list:names'], { lists }, true)(GPTBOT), 'a permission needs the whole')
  t.ok(compileAgents(['list:names'], { lists }, true)('gptbot'))
  t.ok(compileAgents(['list:names'], { lists }, false)('curl'), 'a whole user agent of a list')
  t.end()
})
