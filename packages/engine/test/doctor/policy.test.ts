import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { type ConfigInput, doctor, open } from '../../src/open/index.ts'
import { DNS, examine, soundConfig } from '../config/sound-config.ts'
import { bernDatabase, madeConfig } from '../open/made-sources.ts'
import { temporaryFolder } from '../stores/processes.ts'

t.test('a limit of failures where a server in front answers: doctor and config check say what it counts', async (t) => {
  const policy = { limits: ['login-guard' as const] }
  const config = { ...(await soundConfig(t)), policy }
  t.match(await examine(config, 'policy'), [{ state: 'ok' }])
  const asked = { ...config, trustProxy: ['loopback'], forwardAuth: 'nginx' as const }
  const said = { state: 'warn', found: /"login-guard-pass" counts every request, not failures, because forwardAuth/ }
  t.match(await examine(asked, 'policy'), [said])
  const paged = { ...asked, policy: { preset: 'stop-scrapers' as const } }
  const pages = /"mail-programs-pages-prefix" counts every request except static files, not pages, because forwardAuth/
  t.match(await examine(paged, 'policy'), [{ state: 'warn', found: pages }])
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
  const found = await examine(config, 'files')
  for (const { state } of found) t.equal(state, 'warn')
  const texts = [
    'list lines: skipped 1 invalid line (2).',
    'The rule "names" never matches: it compares userAgent with the list hosts, which has 2 addresses but no pat',
    'The rule "systems" never matches: it compares asn with the list mixed, which has 1 address and 1 pattern but no',
    'Some entries of the list lines never match: it has 1 pattern, the first on line 4, but rules compare it with',
  ]
  for (const [at, text] of texts.entries()) t.ok(found[at]?.found.startsWith(text), text)
})

t.test('a rule by region is named where no city file is loaded', async (t) => {
  const sound = await soundConfig(t)
  const rule = { id: 'border', action: 'block', status: 451, unknown: 'ignore' } as const
  const found = async (config: ConfigInput) => {
    await (await open(config)).close()
    const findings = await doctor(config, { dns: DNS })
    return findings.filter(({ found }) => found.includes('city file'))
  }
  const withRule = (match: object): ConfigInput => ({ ...sound, policy: { rules: [{ ...rule, match }] } })
  t.match(await found(withRule({ region: ['US-TX'] })), [
    { check: 'data', state: 'warn', found: /regions in border are mostly unknown/, advice: /sallyport data update/ },
  ])
  t.match(await found(withRule({ country: ['US'], not: { region: ['US-TX'] } })), [{ state: 'warn' }])
  const land = { id: 'land', match: { country: ['US'] }, action: 'block' } as const
  t.strictSame(await found({ ...sound, policy: { rules: [land] } }), [])
  const file = join(t.testdir(), 'city.mmdb')
  writeFileSync(file, bernDatabase())
  const sources = { ...sound.data?.sources, 'dbip-city-v4': { url: pathToFileURL(file).href } }
  const data = { ...sound.data, sources }
  t.strictSame(await found({ ...withRule({ region: ['US-TX'] }), data }), [])
})

t.test('the list of throwaway mail is dated where rules ask for it, and missed where it is not loaded', async (t) => {
  const { data = {} } = madeConfig(await temporaryFolder(t), { 'throwaway-mail': 'mailinator.com\n' })
  const config = { ...(await soundConfig(t)), data }
  const found = async (more: ConfigInput) => {
    await (await open({ ...config, ...more })).close()
    return (await examine({ ...config, ...more }, 'data')).filter(({ found }) => /throwaway/.test(found))
  }
  t.strictSame(await found({}), [], 'no rule asks')
  const policy: ConfigInput['policy'] = { limits: ['account-guard'] }
  t.match(await found({ policy }), [{ state: 'ok', found: /^The list throwaway-mail is from \d{4}-\d\d-\d\d\.$/ }])
  const sources = { ...data.sources, 'throwaway-mail': { enabled: false } }
  t.match(await found({ policy, data: { ...data, sources } }), [
    { state: 'warn', found: /so account-throwaway never matches/, advice: /data\.sources\.throwaway-mail/ },
  ])
})
