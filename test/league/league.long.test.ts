import t from 'tap'
import { missing } from '../clients/programs.ts'
import { NO_OPENSSL } from '../clients/site.ts'
import { runLeague } from './league.ts'
import { recordedLines } from './record.ts'
import { leagueText } from './tables.ts'
import { TOOLS, type Tool } from './tools.ts'

const drive = () => Promise.reject(new Error('it is not installed'))
const ABSENT: Tool = { name: 'a tool of nobody', kind: 'client', version: async () => undefined, drive }

t.test('curl and the fetch of Node before two presets', { skip: missing('curl') || NO_OPENSSL }, async (t) => {
  const tools = [...TOOLS.filter(({ name }) => name === 'curl' || name === 'node fetch'), ABSENT]
  const league = await runLeague({
    tools,
    ways: ['own', 'user-agent'],
    presets: ['low-friction', 'stop-scrapers'],
    networks: ['hosting', 'home'],
    lanes: 1,
    pages: 25,
    onProgress: () => {},
  })
  t.same(league.absent, [ABSENT])
  t.equal(league.rows.length, 2 * 2 * 2 * 2)
  for (const { tool, way, preset, network, visit, fault } of league.rows) {
    const [first] = visit?.asked ?? []
    const name = `${tool.name}, ${way}, ${preset}, ${network}`
    t.equal(fault, undefined, name)
    t.match(first?.request.ja4, /^t13d/, name)
    const found = first?.decision.inspection.network.verdict.classification
    t.equal(found, network === 'home' ? 'residential_clean' : 'hosting')
    t.ok((first?.decision.inspection.agent.botProbability ?? 0) > 0.9, name)
    if (way === 'own' && network === 'home') t.equal(visit?.served, 25, name)
    if (way === 'own' && preset === 'stop-scrapers' && network === 'hosting') {
      t.match(visit, { served: 0, ended: true }, name)
      t.equal(visit?.asked.length, 20, 'twenty refusals end a visit')
    }
  }

  const [recorded = ''] = recordedLines(league.rows.filter(({ way }) => way === 'user-agent')).split('\n')
  t.match(JSON.parse(recorded), { kind: 'client', way: 'user-agent', scheme: 'https', httpVersion: '2.0' })
  t.match(recorded, '["user-agent","Mozilla/5.0 (Windows NT 10.0; Win64; x64)')

  const text = leagueText(league, '2026-11-28')
  t.match(text, /^Run on 2026-11-28 with curl [\d.]+.*; not installed: a tool of nobody\.$/m)
  t.match(text, /^\| `low-friction` \| 2 \|/m)
  t.match(text, /^\| curl(?:, [^|]+)? \| [\d. /]+ \| 25 \|/m)
})
