import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { doctor } from '../../src/open/index.ts'
import { DNS, of, soundConfig } from '../config/sound-config.ts'

t.test('a limit of failures where a server in front answers: doctor and config check say what it counts', async (t) => {
  const policy = { limits: ['login-guard' as const] }
  const config = { ...(await soundConfig(t)), policy }
  t.match(of(await doctor(config, { dns: DNS }), 'policy'), [{ state: 'ok' }])
  const asked = { ...config, trustProxy: ['loopback'], forwardAuth: 'nginx' as const }
  const said = { state: 'warn', found: /"login-guard-pass" counts every request, not failures, because forwardAuth/ }
  t.match(of(await doctor(asked, { dns: DNS }), 'policy'), [said])
  const paged = { ...asked, policy: { preset: 'stop-scrapers' as const } }
  const pages = /"mail-programs-pages-prefix" counts every request except static files, not pages, because forwardAuth/
  t.match(of(await doctor(paged, { dns: DNS }), 'policy'), [{ state: 'warn', found: pages }])
})

t.test('rules that undo each other are named', async (t) => {
  const match = { purpose: ['training' as const] }
  const rules = [
    { id: 'few', match, concurrent: 1, action: 'throttle' as const },
    { id: 'none', match, action: 'block' as const },
  ]
  const config = { ...(await soundConfig(t)), policy: { preset: 'observe' as const, rules } }
  t.match(of(await doctor(config, { dns: DNS }), 'policy'), [
    { state: 'warn', found: /^rule "few": the later rule "none" blocks/, advice: /then: allow/ },
  ])
})

t.test('a rule that compares a list with what it does not hold is named', async (t) => {
  const rules = [
    { id: 'names', match: { userAgent: ['list:hosts'] }, action: 'block' as const },
    { id: 'systems', match: { path: ['/x'], not: { asn: ['list:mixed'] } }, action: 'block' as const },
    { id: 'lines', match: { address: ['list:lines'], asn: ['list:lines'] }, action: 'block' as const },
    { id: 'fits', match: { address: ['list:hosts', 'list:mixed'], referer: ['list:mixed'] }, action: 'block' as const },
  ]
  const sound = await soundConfig(t)
  const file = join(String(sound.dataDir), '../lines.txt')
  writeFileSync(file, '5.9.13.1\nshun 5.9.13.2\n5.9.13.3\nSome Bot\nAS64500\n')
  const lists = { hosts: ['5.9.10.20', '5.9.11.0/24'], mixed: ['5.9.12.1', '*Bot*'], none: [], lines: { file } }
  const config = { ...sound, lists, policy: { preset: 'observe' as const, rules } }
  t.match(of(await doctor(config, { dns: DNS }), 'files'), [
    { state: 'warn', found: 'list lines: skipped 1 invalid line (2).', path: ['lists', 'lines'] },
    {
      state: 'warn',
      found:
        /^The rule "names" never matches: it compares userAgent with the list hosts, which has 2 addresses but no pat/,
    },
    {
      state: 'warn',
      found:
        /"systems" never matches: it compares asn with the list mixed, which has 1 address and 1 pattern but no sys/,
    },
    {
      state: 'warn',
      found:
        'Some entries of the list lines never match: it has 1 pattern, the first on line 4, but rules compare it with address and asn.',
    },
  ])
})
