import { AI_REFERRERS } from '@sallyport/data/ai-referrers'
import t from 'tap'
import { findAiReferrer } from '../src/host.ts'

t.test('each service is known by each of its hosts and parameters', async (t) => {
  for (const { service, hosts, utm } of AI_REFERRERS) {
    for (const host of hosts) {
      t.equal(findAiReferrer(`https://${host}/`, '/'), service, host)
      t.equal(findAiReferrer(`https://${host}`, '/page?x=1'), service, host)
    }
    for (const value of utm) t.equal(findAiReferrer(undefined, `/page?a=b&utm_source=${value}&c=d`), service, value)
  }
})

t.test('others are not', async (t) => {
  t.equal(findAiReferrer(undefined, '/'), undefined)
  t.equal(findAiReferrer('', '/?utm_source='), undefined)
  t.equal(findAiReferrer('https://shop.example/chatgpt.com/', '/chatgpt.com'), undefined)
  t.equal(findAiReferrer('https://chatgpt.com.evil.example/', '/?utm_source=newsletter'), undefined)
  t.equal(findAiReferrer('nonsense', '/'), undefined)
})

t.test('a row names each host once, and says what it rests on', async (t) => {
  const hosts = AI_REFERRERS.flatMap(({ hosts }) => hosts)
  t.same(hosts, [...new Set(hosts)])
  t.same(
    AI_REFERRERS.filter(({ source, date }) => source === '' || date === ''),
    [],
  )
})
