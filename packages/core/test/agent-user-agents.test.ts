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

/** The verdict on a user agent among fields that any client may send. */
function judged(userAgent: string) {
  const fields = ['Host', 'a.example', 'User-Agent', userAgent, 'Accept', 'text/html,*/*;q=0.8']
  return inspect(
    requestOf([...fields, 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate'], { scheme: 'http' }),
  ).agent
}

const phone = (device: string, behind = '') =>
  `Mozilla/5.0 (Linux; Android 12; ${device}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36${behind}`
const webView = (behind: string) => phone('SM-A105F; wv', ` ${behind}`)
const iPhone = (behind: string) =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 ${behind}`
const electron = (app: string) =>
  CHROME_TEXT.replace('Chrome/', `${app} Chrome/`).replace(' Safari', ' Electron/39.0.0 Safari')

const PEOPLE: Readonly<Record<string, readonly string[]>> = {
  'names of devices': [
    phone('CUBOT NOTE 50; CUBOT'),
    phone('MOTO JAVA'),
    phone('Spider X2 Build/TP1A'),
    phone('Capture+ Build/RP1A'),
    phone('BOTECH B3'),
    phone('Robot Monitor'),
    phone('LibraryPad 10').toLowerCase(),
    `${phone('X20 PRO')} Instagram 337.0.0.35.102 Android (28/9; 480dpi; 1080x2115; CUBOT; X20 PRO; X20_PRO; mt6763; en_GB; 1)`,
    'Dalvik/2.1.0 (Linux; U; Android 9; CUBOT_X19 Build/PPR1.180610.011)',
    'CUBOT_X18/Android 7 Release/03.2017 Browser/AppleWebKit537.36',
    'com.example.shop/3.4 (Linux; U; Android 13; de_DE; CUBOT KINGKONG; Build/TP1A; Cronet/120)',
  ],
  'names of applications': [
    webView('CamScanner/6.2.1'),
    webView('agentweb/4.0.2 UCBrowser/11.6.4.950'),
    webView('HomeMonitor/2.0'),
    webView('Botim/3.1'),
    iPhone('PhotoScan/1.7'),
    'CamScanner/6.33.0 (iPhone; iOS 18.5; Scale/3.00)',
    'Feedly/91 (iPhone; iOS 16.0; Scale/3.00)',
    'Booking.com/34.2 Android/13 (Type: phone; AppStore: google; Brand: CUBOT; Model: KINGKONG 7)',
    electron('RSS-Feed-Reader/1.2'),
    'Splash%20Wallpapers/12 CFNetwork/1410.0.3 Darwin/22.6.0',
    'Java Edition Skins/1.0 (iPad; iOS 17.2)',
    'SpiderSolitaire/2.1 (iPhone; iOS 17.5; Scale/3.00)',
    'Spider Solitaire/2.1 (iPad; iOS 17.5; Scale/2.00)',
    'iRobotHome/7.0 (iPhone; iOS 18.1; Scale/3.00)',
    'LighthouseApp/3.0 (Android 13; SM-A515F)',
    webView('RobotArena/2.0'),
    iPhone('SpiderSolitaire/2.1'),
  ],
  'applications without Mozilla': [
    '[FBAN/FB4A;FBAV/567.0;FBPN/com.facebook.katana;FBLC/en_GB;FBMF/CUBOT;FBDV/X19;FBSV/9;FBDM/{density=3.0,width=1080}]',
    '[FBAN/MessengerForiOS;FBAV/440.0;FBDV/iPhone14,5;FBSN/iOS;FBSV/17.1;FBID/phone]',
    'ddg_win/0.75.0 (com.duckduckgo; Windows)',
    'shopping/3.4 (android; 14; pixel 8)',
    'Slack/25.10 (macOS/26.2; en_US)',
    'Mac OS X/10.15.7 (19H2) CalendarAgent/930.5.1',
    'Mac+OS+X/10.9 (13A603) CalendarAgent/174',
    'xrOS/1.0 (21N305) dataaccessd/1.0',
    'MyBank/4.1 (iPadOS 17.4; iPad13,1)',
    'Freeform/3.2 (visionOS 2.1; RealityDevice14,1)',
    'M2003J15SC(Android/11) AliApp(AliExpress/8.5.1) vercode/307 1080x2110',
  ],
  'older phones': [
    'UCWEB/2.0 (Java; U; MIDP-2.0; en-US; nokia2700c-2) U2/1.0.0 UCBrowser/9.4.1.482 U2/1.0.0 Mobile',
    'Mozilla/5.0 (Java; U; en-us; samsung-gt-s5620) UCBrowser8.2.1.144/70/352/UCWEB Mobile',
    'BenQ-CF61/1.00/WAP2.0/MIDP2.0/CLDC1.0',
    'BlackBerry9700/5.0.0.862 Profile/MIDP-2.1 Configuration/CLDC-1.1 VendorID/120 Java/1.3',
    'Nokia5130c-2/2.0 (07.97) Profile/MIDP-2.1 Configuration/CLDC-1.1 Java/1.0 UCBrowser',
    'R380 2.0 WAP1.1',
    'FLY_E141TV_PLUS/ WAP Browser/MAUI(HTTP PGDL;HTTPS)Profile/Q03C1-2.40 ru-RU',
    'DoCoMo/2.0 N905i(c100;TB;W24H16)',
    'KDDI-SN3V UP.Browser/6.2_7.2.7.1.K.7.113 (GUI) MMP/2.0',
    'TIANYU-KTOUCH/A930/Screen-240X320',
  ],
  'televisions and players': [
    'Linux/2.6.35 UPnP/1.0 DLNADOC/1.50 LGE_DLNA_SDK/1.5.0',
    'Panasonic MIL DLNA CP UPnP/1.0',
    'VLC/3.0.21 LibVLC/3.0.21',
  ],
  'text browsers': [
    'URL/Emacs Emacs/30.1 (PureGTK; x86_64-pc-linux-gnu)',
    'URL/Emacs Emacs/29.1 (TTY; aarch64-apple-darwin)',
    'Emacs-w3m/1.4.632 w3m/0.5.3',
    'edbrowse/3.8.9',
    'ELinks/0.17 (textmode; Linux; 80x24-2)',
  ],
  'pages read through another': [
    `${CHROME_TEXT},gzip(gfe) (via translate.google.com)`,
    'Opera/9.80 (Windows NT 6.1; U; en) Presto/2.10 Version/12.16 (via babelfish.yahoo.com)',
  ],
}

t.test('devices, applications and browsers of people are people’s', async (t) => {
  for (const [kind, texts] of Object.entries(PEOPLE)) {
    for (const text of texts) t.match(judged(text), { class: 'human', basis: 'none' }, `${kind}: ${text}`)
  }
})

const PROGRAMS = [
  phone('K', ' Foobot'),
  phone('K', ' Site-Agent'),
  phone('K', ' Hotjar'),
  phone('Foobot/1.0'),
  phone('K', ' (compatible; ImageGrabber/1.0)'),
  phone('K', ' (+https://probe.example/)'),
  iPhone('probe.com/policy'),
  iPhone('SEOBots/2'),
  'FooBot/1',
  'FooRobot/1.0 (iPhone; iOS 18.1)',
  'Spider/1.0 (iPhone; iOS 18.1)',
  'Web spider/4.0 (Linux; U; Android 12; SM-G900 Build/TP1A)',
  'Java/1.8.0_292',
  'Foo-Bot/1.0 (iPhone; iOS 18.1)',
  'Citizen-Monitor/1.0',
  'LinkCrawler/2.3 (Linux; U; Android 12; SM-G900 Build/TP1A)',
  'python-requests/2.32 (Android 13)',
  'DoCoMo/2.0 N905i(c100;TB) (compatible; mobilespider/1.0)',
  CHROME_TEXT.replace('Chrome/', 'HeadlessChrome/').replace('Windows NT 10.0', 'Linux; Android 12'),
  'Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.0.7',
  'Mozilla/5.0 (X11; I; Siege)',
  'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.18362.1714',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/534.34 (KHTML, like Gecko) wkhtmltopdf Safari/534.34',
  `${CHROME_TEXT} CamScanner-checker`,
]

t.test('programs are programs beside a device too', async (t) => {
  for (const text of PROGRAMS) t.match(judged(text), { class: 'unverified_bot', basis: 'automation' }, text)
  t.ok(PROGRAMS.every((text) => judged(text).confidence >= 0.95))
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
