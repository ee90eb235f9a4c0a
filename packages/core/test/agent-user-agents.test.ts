import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MONITORS } from '@sallyport/data/automation'
import t from 'tap'
import { agentInspector, CHROME_TEXT, requestOf } from './agents.ts'

const { inspect } = agentInspector()
const CASES = join(
  process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../shared/data'),
  'cases',
)
const skip = existsSync(CASES) ? false : `no cases at ${CASES}`

/** A request with a user agent among fields that any client may send. */
function requestWith(userAgent: string) {
  const fields = ['Host', 'a.example', 'User-Agent', userAgent, 'Accept', 'text/html,*/*;q=0.8']
  return requestOf([...fields, 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate'], { scheme: 'http' })
}

const judged = (userAgent: string) => inspect(requestWith(userAgent)).agent

const phone = (device: string, behind = '') =>
  `Mozilla/5.0 (Linux; Android 12; ${device}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36${behind}`
const iPhone = (behind: string) =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 ${behind}`

/** Rows of user-agents.tsv: the verdict, what the texts have in common, and a user agent. */
const ROWS = readFileSync(join(import.meta.dirname, '../../test/user-agents.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [verdict: 'person' | 'application' | 'program', kind: string, text: string])

t.test('devices, applications and browsers of people are people’s, and programs programs', async (t) => {
  for (const [verdict, kind, text] of ROWS) {
    const { agent, crawler } = inspect(requestWith(text))
    if (verdict === 'program') {
      t.match(agent, { class: 'unverified_bot', basis: 'automation' }, text)
      t.ok(agent.confidence >= 0.95, text)
    } else
      t.match(agent, verdict === 'person' ? { class: 'human', basis: 'none' } : { class: 'human' }, `${kind}: ${text}`)
    if (verdict === 'application') t.equal(crawler, undefined, text)
  }
})

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

t.test('a suite that monitors or tests is a program by its name, also on a phone', async (t) => {
  t.ok(MONITORS.length >= 50)
  const forms = (name: string) => [
    `${CHROME_TEXT} ${name}/1.2`,
    `${LINUX} (${name})`,
    LINUX.replace('x86_64)', `x86_64; ${name})`),
    phone('Moto G (4)', ` ${name}`),
    phone('Moto G (4)', ` (${name} 7.1)`),
    iPhone(`Safari/604.1 ${name}/1.0 v3`),
  ]
  const missed = MONITORS.flatMap(forms).filter((text) => judged(text).class !== 'unverified_bot')
  t.same(missed, [])
  t.match(judged(`${CHROME_TEXT} RuxitSynthetic/1.0`), { confidence: 0.95, reasons: [{ text: /RuxitSynthetic/ }] })
})

t.test("a device that is called as a suite is its owner's, where a comment describes it", async (t) => {
  const forms = (name: string) => [
    phone(name),
    phone(`${name} X2`),
    phone(`${name} X2 Build/TP1A.220624.014`),
    phone(`X2 ${name} (5G)`),
    phone(`${name}; wv`, ' Version/4.0'),
    `Mozilla/5.0 (Android 14; Mobile; ${name}; rv:150.0) Gecko/150.0 Firefox/150.0`,
    `Dalvik/2.1.0 (Linux; U; Android 12; ${name} X2 Build/TP1A.220624.014)`,
  ]
  const accused = MONITORS.filter((name) => !name.includes('/'))
    .flatMap(forms)
    .filter((text) => judged(text).class === 'unverified_bot')
  t.same(accused, [])
  for (const text of [
    phone('K; Rigor/1.0'),
    phone('K', ' (Rigor X2)'),
    phone('Rigor X2', ' Rigor/1.0'),
    'Mozilla/5.0 (compatible; Rigor; Linux; Android 12)',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Rigor) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  ]) {
    t.match(judged(text), { class: 'unverified_bot', reasons: [{ text: /Rigor/ }] }, text)
  }
})

t.test('Chrome of desktop Linux under a further name is likely a program', async (t) => {
  for (const text of [
    `${LINUX} Sitewatch/2.1`,
    `${LINUX} Sindup`,
    LINUX.replace('Chrome/', 'Wander Chrome/'),
    `${CHROME_TEXT}; Wander`,
    `${phone('K')}; Wander/1.0`,
  ]) {
    t.match(judged(text), { class: 'unverified_bot', basis: 'automation', confidence: 0.6 }, text)
  }
  for (const text of [
    LINUX,
    `${LINUX} OPR/136.0.0.0 (Edition developer)`,
    `${LINUX} Edg/150.0.0.0 Sitewatch/2.1`,
    LINUX.replace('Chrome/', 'Rocket.Chat/2.17 Chrome/').replace(' Safari', ' Electron/39.0.0 Safari'),
    `${CHROME_TEXT} Agency/90.8`,
    `${phone('K')} Newbrowser/1.0`,
  ]) {
    t.match(judged(text), { class: 'human' }, text)
  }
})

t.test('a model, or an application of a desktop, that nobody knows is not accused for its form', async (t) => {
  for (const text of [
    'Trevi_AB123/1.0 Release/05.2012',
    'Norel K222s WAB-Browser/1.0.0',
    'Mozilla/4.08 (N905imyu_W;FOMA;c500;TB)',
    'Mozilla/5.0 (H11T; like Gecko; OpenBrowser) Browser/3.4',
    'A/7.1.2/unknown/TPS320/msm8909/unknown/-',
    'Podcasts/2.1.2',
    'Night Radio',
    'Trevi Q1/1.0 Profile/1',
    'Word/15.22.506 (Mac OS/10.11.5; Desktop; en-US; NonAppStore)',
    'Ledger Desk/16.0 (Windows NT 10.0; Ledger 16.0.10730; Pro)',
  ]) {
    t.match(judged(text), { class: 'human', basis: 'none' }, text)
  }
  for (const text of [
    'AB123 FooCrawler/1.0',
    'Mozilla/5.0 (compatible; Podwatch; +probe.example)',
    'Mozilla/5.0 (compatible; AB123; +https://probe.example/)',
    'Probe/1.0 (X11; Linux x86_64)',
    'Ledger Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    'curl/8.1 (Windows NT 10.0)',
  ]) {
    t.match(judged(text), { class: 'unverified_bot' }, text)
  }
})

const claimed = (name: string) => `Mozilla/5.0 (compatible; ${name})`

t.test('what is written as no browser writes it is likely a program and no more', async (t) => {
  const claims = [
    'Operator/1.0',
    'PrimeFinder/1.0',
    'Winner/1.0',
    'Observer/1.0',
    'Nagios-Plugins',
    'MacTool/2',
    'XiOSWatch',
    'Phonebook/1.0',
    'LinuxLookup/1.0',
    'WindowsLookup/2.1',
    'Intelligence',
    'Machine Learning Lab/1.0',
  ]
  for (const text of [
    'Digests/2.1.2',
    'Mozilla/5.0 Summary/2.0',
    'Mozilla/5.0 (compatible; Zoom/1.0)',
    "b'Mozilla/5.0",
    // Parts of systems and of engines within words: Win, Mac, RIM, iOS, Opera, Phone, Servo.
    'Mozilla/5.0 Winner/1.0',
    ...claims.map(claimed),
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64)',
    'Mozilla/5.0 (X11; Linux x86_64)',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Winner',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64',
    'Mozilla/5.0 (Windows; U; Windows NT 5.1; en-US; rv:1.9.2.3)',
    'mozilla/5.0 (x11; linux x86_64)',
  ]) {
    t.match(judged(text), { class: 'unverified_bot', basis: 'automation', confidence: 0.6 }, text)
  }
  for (const text of [
    'Mozilla/5.0 (Windows NT 6.1; Trident/7.0; rv:11.0)',
    'Mozilla/5.0 (X11; U; Linux amd64) Iron/21.0.1200.0 Chrome/21.0.1200.0 Safari/537.1',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X) Word/14.65.0',
    'Mozilla/5.0 (X11; Linux x86_64) Firefox',
    'Mozilla/5.0 (GhostBSD amd64)',
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit (KHTML, like Gecko)',
    'Mozilla/4.7 (compatible; OffByOne; Windows 2000) Webster Pro V3.4',
    'Mozilla/5.0 (compatible; Konqueror/4.4; Linux 2.6.32; X11)',
    'Mozilla/5.0 (compatible; Windows NT 6.1) Opera 9',
    'Mozilla/5.0 (PlayStation 4 3.11)',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8)',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)',
    'Mozilla/5.0 (SMART-TV; Tizen 5.0)',
    'Mozilla/5.0 (SymbianOS/9.4)',
    'mozilla/5.0 (freebsd amd64)',
  ]) {
    t.match(judged(text), { class: 'human' }, text)
  }
  t.match(judged(`${CHROME_TEXT} (ops@foo.example)`), { confidence: 0.95, reasons: [{ text: /ops@foo\.example/ }] })
})

t.test('the user agents of people’s devices that were reported elsewhere are people’s', { skip }, async (t) => {
  for (const file of ['k11-words', 'k12-feature-phones', 'k13-app-without-mozilla', 'k15-text-browsers']) {
    for (const line of readFileSync(join(CASES, `${file}.txt`), 'utf8')
      .trim()
      .split('\n')) {
      const [who, text = ''] = line.split('\t')
      t.equal(judged(text).class, who === 'person' ? 'human' : 'unverified_bot', text)
    }
  }
})
