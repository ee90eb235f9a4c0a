import t from 'tap'
import { agentInspector, CHROME_TEXT, FIREFOX_TEXT, requestOf } from './agents.ts'

const { decide } = agentInspector()

function judged(userAgent: string) {
  const fields = ['Host', 'a.example', 'User-Agent', userAgent, 'Accept', 'text/html,*/*;q=0.8']
  const more = ['Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate']
  return decide(requestOf([...fields, ...more], { scheme: 'http' })).inspection.agent
}

const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; SM-S918N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.6668.81 Mobile Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'

t.test('each mark of a WebView is one, and each browser of a desk', async (t) => {
  for (const text of [
    `${ANDROID.replace('Version/4.0 ', '')};carclub`,
    `${ANDROID.replace('; wv', '')};carclub`,
    `${FIREFOX_TEXT.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64')} VueScan/9.8`,
    'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1) VueScan/9.8',
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko VueScan/9.8',
  ]) {
    t.match(judged(text), { class: 'human' }, text)
  }
})

t.test('programs beside a browser of a desk, on servers and on their own are programs', async (t) => {
  for (const text of [
    `${MAC} Chrome/140.0.0.0 Safari/537.36 SiteScanner`,
    `${MAC} Version/17.4 Safari/605.1.15 (ContentScan)`,
    `${CHROME_TEXT.replace('Windows NT 10.0; Win64; x64', 'X11; Linux x86_64')} CamScanner/3.2.1`,
    'SiteScan/2.0',
    `${IPHONE} Web-Robot; Vacuum/2.0`,
  ]) {
    t.match(judged(text), { class: 'unverified_bot', basis: 'automation', confidence: 0.95 }, text)
  }
})
