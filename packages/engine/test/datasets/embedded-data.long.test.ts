import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { compileTables, loadTables, resolveSources } from '../../src/datasets/index.ts'
import { readSource, type SourceFile } from '../../src/datasets/sources/source-file.ts'
import { folder } from './fixtures.ts'

/** The city databases take most of a compile and are checked on made files: they are left out here. */
const OFF = Object.fromEntries(['dbip-city-v4', 'dbip-city-v6'].map((id) => [id, { enabled: false }]))

t.test('the embedded data compiles whole, and answers as its own lines say', async (t) => {
  const sources = resolveSources(OFF)
  const { path, sources: statuses } = await compileTables({ dataDir: folder(t), sources })
  const entries = Object.fromEntries(statuses.map(({ id, entries }) => [id, entries]))
  t.match(entries, { 'asn-csv-v4': 411_961, 'asn-csv-v6': 103_197, 'asn-country-v4': 141_822 })
  const { networks, systems } = loadTables(path)
  t.equal(systems?.size, 91_065)

  for (const id of ['asn-csv-v4', 'asn-csv-v6']) {
    const file = sources.find(({ row }) => row.id === id)?.file as SourceFile
    // One line in a hundred, without quotes in its name, so that a plain split reads it.
    const text = readSource(file).toString()
    const lines = text.split('\n').filter((line, index) => index % 100 === 7 && !line.includes('"'))
    t.ok(lines.length > 500)
    for (const line of lines) {
      const [first, last, asn, name] = line.split(',') as [string, string, string, string]
      const found = [first, last].map((text) => networks?.find(makeAddress(text))?.system)
      if (found.some((system) => system?.asn !== Number(asn) || system.name !== name.trim())) t.fail(line)
    }
  }

  const cloudflare = systems?.system(systems.indexOf(13335))
  t.match(cloudflare, { name: 'Cloudflare, Inc.', country: 'US', networkClass: 'datacenter' })
  t.equal(networks?.find(makeAddress('10.0.0.1')), undefined)
})
