import { AUTOMATION, MONITORS } from '@sallyport/data/automation'
import t from 'tap'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import { agentInspector, CHROME_TEXT, FIREFOX_TEXT, RACK, requestOf } from './agents.ts'

const { decide } = agentInspector()

/** The decision about a user agent among fields that any client may send, from a home line. */
function decided(userAgent: string) {
  const fields = ['Host', 'a.example', 'User-Agent', userAgent, 'Accept', 'text/html,*/*;q=0.8']
  return decide(requestOf([...fields, 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate'], { scheme: 'http' }))
}

const judged = (userAgent: string) => decided(userAgent).inspection.agent

const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; SM-S918N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.6668.81 Mobile Safari/537.36'
const PHONE_CHROME =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const electron = (app: string) =>
  CHROME_TEXT.replace('Chrome/', `${app} Chrome/`).replace(' Safari', ' Electron/39.0.0 Safari')

t.test('a mail program is no browser, and a browser that adds its name stays one', async (t) => {
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'protect-content', rules: [] }) })
  const from = (userAgent: string) => decide(requestOf(['Host', 'a.example', 'User-Agent', userAgent], { peer: RACK }))
  const mail = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0'
  t.match(from(mail), { action: 'flag', inspection: { agent: { class: 'human', basis: 'network' } } })
  for (const text of [`${CHROME_TEXT} Thunderbird/1`, `${FIREFOX_TEXT} Thunderbird/1`])
    t.match(from(text), { action: 'challenge' }, text)
})

/** Forms of applications on people's devices. */
const FORMS: readonly ((name: string) => string)[] = [
  (name) => `${name}/2.1 (iPhone; iOS 17.5; Scale/3.00)`,
  (name) => `${name}/1.0 (iPad; iPadOS 17.5; Scale/2.00)`,
  (name) => `${name}/3.1 (com.example.app; build:12; iOS 17.5.0) Alamofire/5.9.1`,
  (name) => `${name}/2.1 (Mac OS X Version 14.5 (Build 23F79))`,
  (name) => `${name}/2.1 CFNetwork/1498.700.2 Darwin/23.6.0`,
  (name) => `${IPHONE} ${name}/3.2`,
  (name) => `${ANDROID} ${name}/2.3`,
  (name) => `${MAC} ${name}/3.2`,
]

t.test('an application that is called as a tool is a person’s, on phones and on desks', async (t) => {
  // Words of programs accuse in the name of a product too.
  const isWord = (name: string) => /bot|scrapy|headless|pagespeed|feed|\.com/i.test(name)
  const tools = AUTOMATION.filter(({ inApplications }) => inApplications !== true).map(({ token }) => token)
  const names = [...tools, ...MONITORS, 'Teleport Connect'].filter((name) => !isWord(name))
  t.ok(names.length > 140)
  const accused = names
    .flatMap((name) => FORMS.map((form) => form(name)))
    .filter((text) => judged(text).class !== 'human')
  t.same(accused, [])
  const inElectron = names.filter((name) => name !== 'Cypress').map((name) => electron(`${name}/2.1`))
  t.same(
    inElectron.filter((text) => judged(text).class !== 'human'),
    [],
  )
})

t.test('a driven browser stays one in every form, and a tool in the forms that it has', async (t) => {
  const driven = AUTOMATION.filter(({ inApplications }) => inApplications === true).map(({ token }) => token)
  t.ok(driven.length >= 8)
  const texts = driven.flatMap((name) =>
    [...FORMS.filter((form) => !form(name).includes('CFNetwork')), (n: string) => electron(`${n}/1`)].map((form) =>
      form(name),
    ),
  )
  for (const text of [
    ...texts,
    electron('Cypress/13.6.0'),
    'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) splash Version/10.0 Safari/538.1',
    'curl/8.5 (Android 14)',
    'python-requests/2.32 (Android 13)',
    'Cypress/4.2 (iPhone; iOS 18.1; Scale/3.00; +https://probe.example/)',
    'Splash/2.1 (compatible; iPhone; iOS 17.5; Scale/3.00)',
    `${PHONE_CHROME} Splash/3.2`,
    `${ANDROID} Splash/3.2 HeadlessChrome/150.0`,
    `${CHROME_TEXT} Zabbix/7.0`,
    'WordPress/6.6; https://site.example',
    'PostmanRuntime/7.43.0',
  ]) {
    t.match(judged(text), { class: text.includes('Lightpanda') ? 'ai_agent' : 'unverified_bot' }, text)
  }
})

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
