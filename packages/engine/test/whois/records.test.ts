import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'
import { FACTS } from './facts.ts'

/** Made answers in the manner of registries and registrars: a line `=== manner {facts that differ}`, and the answer. */
const ANSWERS = readFileSync(join(import.meta.dirname, '../../../test/whois/records.txt'), 'utf8')
  .slice('=== '.length, -1)
  .split('\n=== ')

for (const text of ANSWERS) {
  const [, manner = '', differs = '', answer = ''] = /^(.*?) (\{.*\})\n([\s\S]*)$/.exec(text) ?? []
  t.test(`a record is read in the manner of ${manner}`, async (t) => {
    const facts = Object.entries({ ...FACTS, ...JSON.parse(differs) }).filter(([, value]) => value !== null)
    const expected = { state: 'registered', record: Object.fromEntries(facts) }
    t.strictSame(parseWhoisText(answer), expected)
    t.strictSame(parseWhoisText(answer.replaceAll('\n', '\r\n')), expected, 'CR LF')
  })
}
