import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { type ConfigInput, doctor, open } from '../../src/open/index.ts'
import { DNS, soundConfig } from '../config/sound-config.ts'
import { bernDatabase } from '../open/made-sources.ts'

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
  t.strictSame(
    await found({ ...sound, policy: { rules: [{ id: 'land', match: { country: ['US'] }, action: 'block' }] } }),
    [],
  )
  const file = join(t.testdir(), 'city.mmdb')
  writeFileSync(file, bernDatabase())
  const sources = { ...sound.data?.sources, 'dbip-city-v4': { url: pathToFileURL(file).href } }
  const data = { ...sound.data, sources }
  t.strictSame(await found({ ...withRule({ region: ['US-TX'] }), data }), [])
})
