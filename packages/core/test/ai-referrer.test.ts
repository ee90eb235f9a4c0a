import { AI_REFERRERS } from '@sallyport/data/ai-referrers'
import t from 'tap'
import { findAiReferrer } from '../src/host.ts'

t.test('each service is known by each of its hosts and parameters, and no other', async (t) => {
  for (const { service, hosts, utm } of AI_REFERRERS) {
    for (const host of hosts) {
      t.equal(findAiReferrer(`https://${host}/`, '/'), service, host)
      t.equal(findAiReferrer(`https://${host}`, '/page?x=1'), service, host)
    }
    for (const value of utm) t.equal(findAiReferrer(undefined, `/page?a=b&utm_source=${value}&c=d`), service, value)
  }
  t.equal(findAiReferrer('', '/?utm_source='), undefined)
  t.equal(findAiReferrer('https://shop.example/chatgpt.com/', '/chatgpt.com'), undefined)
  t.equal(findAiReferrer('https://chatgpt.com.evil.example/', '/?utm_source=newsletter'), undefined)
  t.equal(findAiReferrer('nonsense', '/'), undefined)
})
