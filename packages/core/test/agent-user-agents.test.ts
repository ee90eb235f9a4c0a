import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MONITORS } from '@sallyport/data/automation'
import t from 'tap'
import { agentInspector, CHROME_TEXT, plainRequest } from './agents.ts'
import { readShared, skipWithout } from './support.ts'

const { inspect } = agentInspector()

const judged = (userAgent: string) => inspect(plainRequest(userAgent)).agent

const phone = (device: string, behind = '') =>
  `Mozilla/5.0 (Linux; Android 12; ${device}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36${behind}`
const iPhone = (behind: string) =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 ${behind}`

/** Rows of user-agents.tsv: the verdict, what the texts have in common, and a user agent. */
const ROWS = readFileSync(join(import.meta.dirname, '../../test/user-agents.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map(
    (line) =>
      line.split('\t') as [verdict: 'person' | 'application' | 'program' | 'likely', kind: string, text: string],
  )

t.test('devices, applications and browsers of people are people’s, and programs programs', async (t) => {
  for (const [verdict, kind, text] of ROWS) {
    const { agent, crawler } = inspect(plainRequest(text))
    if (verdict === 'program' || verdict === 'likely') {
      t.match(agent, { class: 'unverified_bot', basis: 'automation' }, text)
      t.ok(verdict === 'likely' ? agent.confidence === 0.6 : agent.confidence >= 0.95, `${agent.confidence} ${text}`)
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
  t.match(judged(`${CHROME_TEXT} (ops@foo.example)`), { confidence: 0.95, reasons: [{ text: /ops@foo\.example/ }] })
})

t.test("a device that is called as a suite is its owner's, where a comment describes it", async (t) => {
  const forms = (name: string) => [
    phone(name),
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
    phone('Rigor X2', ' Rigor/1.0'),
    'Mozilla/5.0 (compatible; Rigor; Linux; Android 12)',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Rigor) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  ])
    t.match(judged(text), { class: 'unverified_bot', reasons: [{ text: /Rigor/ }] }, text)
})

t.test('user agents of people’s devices that were reported elsewhere', { skip: skipWithout('cases') }, async (t) => {
  for (const file of ['k11-words', 'k12-feature-phones', 'k13-app-without-mozilla', 'k15-text-browsers']) {
    for (const line of readShared(`cases/${file}.txt`).trim().split('\n')) {
      const [who, text = ''] = line.split('\t')
      t.equal(judged(text).class, who === 'person' ? 'human' : 'unverified_bot', text)
    }
  }
})
