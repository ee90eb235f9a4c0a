import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { fencesIn } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'
import { allOutcomes, runMinute } from './outcomes.ts'
import { SERVICES, type Service } from './services.ts'

const DOCUMENT = join(ROOT, 'packages/sallyport/docs/policy.md')
const serviceNamed = (name: string) => SERVICES.find((one) => one.name === name) as Service

t.test('no preset refuses a service but where its document says so', async (t) => {
  t.ok(SERVICES.length >= 60)
  t.equal(new Set(SERVICES.map(({ name }) => name)).size, SERVICES.length)
  const refused: string[] = []
  for (const [{ name }, row] of await allOutcomes()) {
    for (const [preset, { answer, rule, passed }] of row) {
      // The document says so.
      const isNamed = preset === 'jurisdiction-strict' && rule === 'anonymised'
      if (answer === 'refused' && !isNamed) refused.push(`${name}: ${preset} ${rule} after ${passed}`)
    }
  }
  t.same(refused, [])
})

t.test('hundreds of servers of the fediverse in one system pass, and more of one client does not', async (t) => {
  const mastodon = serviceNamed('Mastodon')
  for (const preset of ['stop-scrapers', 'under-attack'] as const) {
    t.equal((await runMinute({ ...mastodon, clients: 250 }, preset)).answer, 'passes', preset)
    const flood = await runMinute({ ...mastodon, clients: 1, perMinute: 400 }, preset)
    t.match(flood, { answer: 'refused', rule: 'federation', passed: 300 })
    const unnamed = await runMinute({ ...serviceNamed('A server by another name'), perMinute: 400 }, preset)
    t.match(unnamed, { answer: 'refused', rule: 'objects', passed: 120 })
  }
})

t.test('what writes only a part of a service is no service', async (t) => {
  const reader = serviceNamed('A Go library on a WordPress query')
  const library = { 'User-Agent': 'python-requests/2.32.3' }
  const paths = '/api/v1/feed/posts?page=4711 /api/v1/feed /anything/feed/posts /a/b/c?feed=rss2 /?feed=item'
  for (const path of paths.split(' ')) {
    const outcome = await runMinute({ ...reader, path, headers: library }, 'stop-scrapers')
    t.match(outcome, { answer: 'refused', rule: 'server-libraries' }, path)
  }
  const headers = { ...library, Accept: 'application/activity+json' }
  const objects = await runMinute({ ...reader, path: '/users/jane', headers }, 'stop-scrapers')
  t.match(objects, { answer: 'refused', rule: 'server-libraries' })
  const check = serviceNamed('Google Cloud, named by trustProxy')
  const forwarded = { ...check, headers: { ...check.headers, 'X-Real-IP': '5.9.10.20' } }
  t.match(await runMinute(forwarded, 'stop-scrapers'), { answer: 'refused', rule: 'helpers', passed: 60 })
  t.match(await runMinute({ ...check, ip: '5.9.10.20' }, 'stop-scrapers'), { answer: 'refused', rule: 'impostor' })
})

t.test('the exceptions of the document open what the presets refuse', async (t) => {
  const section = readFileSync(DOCUMENT, 'utf8').split('## Services that get through\n')[1] ?? ''
  const fences = fencesIn(DOCUMENT, section).filter(({ language }) => language === 'yaml')
  const policies = fences.map(({ text }) => parse(text).policy)
  t.ok(policies.length >= 2)
  for (const { preset, rules } of policies) {
    for (const service of SERVICES) {
      const outcome = await runMinute(service, preset, rules)
      if (service.kind === 'people') continue
      t.not(outcome.answer, 'refused', `${preset}: ${service.name}`)
    }
  }
})
