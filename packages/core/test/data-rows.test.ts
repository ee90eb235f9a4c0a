import { AI_REFERRERS } from '@sallyport/data/ai-referrers'
import { CRAWLERS } from '@sallyport/data/crawlers'
import { JURISDICTIONS } from '@sallyport/data/jurisdictions'
import { OPERATORS } from '@sallyport/data/operators'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import { REGIONS } from '@sallyport/data/regions'
import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import t from 'tap'
import { formatPrefix, reservedRow } from '../src/index.ts'
import { readPrefix } from '../src/testing/fakes.ts'
import { AS_TYPES } from '../src/vocabulary.ts'

const { codes, retired, parents, twins, names, gateways, disputed, sanctions, satellites } = REGIONS

t.test('every row of data names its source and its date, once', async (t) => {
  const sets: Readonly<Record<string, readonly { readonly source: string; readonly date: string }[]>> = {
    ...{ AI_REFERRERS, CRAWLERS, OPERATORS, TRUSTED_PROXIES, groups: JURISDICTIONS.groups },
    regions: [codes, retired, parents, twins, names, gateways, satellites, ...disputed, ...sanctions],
  }
  for (const [name, rows] of Object.entries(sets)) {
    const odd = rows.filter(({ source, date }) => source.trim().length < 4 || !/^(19|20)\d\d-\d\d(-\d\d)?$/.test(date))
    t.same(odd, [], name)
  }
  const hosts = AI_REFERRERS.flatMap(({ hosts }) => hosts)
  t.equal(new Set(hosts).size, hosts.length)
})

t.test('prefixes of proxies are canonical, and public but for those of one’s own network', async (t) => {
  const own = ['loopback', 'link_local', 'private']
  for (const { preset, prefixes } of TRUSTED_PROXIES) {
    t.equal(new Set(prefixes).size, prefixes.length, preset)
    for (const text of prefixes) {
      const prefix = readPrefix(text)
      t.equal(formatPrefix(prefix), text)
      t.equal(reservedRow(prefix.address) !== undefined, own.includes(preset), `${preset} ${text}`)
    }
  }
})

t.test('every phrase of the organisation rules can be met by a folded name, once in its rule', async (t) => {
  for (const { type, words, unless } of ORGANISATION_RULES) {
    t.ok(AS_TYPES.includes(type) && words.length > 0)
    for (const list of [words, unless]) {
      t.equal(new Set(list).size, list.length, 'no phrase twice')
      const odd = list.filter((phrase) => !phrase.split(' ').every((word) => /^(\*?[a-z0-9]+|[a-z0-9]+\*)$/.test(word)))
      t.same(odd, [])
    }
  }
})
