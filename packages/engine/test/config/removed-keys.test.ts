import t from 'tap'
import { parseConfig } from '../../src/config/parse.ts'
import { REMOVED_KEYS } from '../../src/config/removed-keys.ts'

/** Keys without which the kind of a list is unknown. */
const BESIDE: Readonly<Record<string, object>> = {
  'lists.*.pull': { crowdsec: 'http://127.0.0.1:8080', key: 'key' },
}

t.test('each key of an earlier version is refused with the sentence that says what to use instead', async (t) => {
  const rows = Object.entries(REMOVED_KEYS).flatMap(([paths, sentence]) => {
    const [last = '', ...above] = paths.split('.').reverse()
    return last.split('|').map((name) => [[...above.toReversed(), name].join('.'), sentence] as const)
  })
  for (const [path, sentence] of rows) {
    const parts = path.split('.').map((part) => (part === '*' ? 'any' : part))
    const input = parts.reduceRight<unknown>(
      (value, part, at) => (part === '[]' ? [value] : { ...(at === parts.length - 1 && BESIDE[path]), [part]: value }),
      'x',
    )
    const name = parts.map((part) => (part === '[]' ? '0' : part)).join('\\.')
    t.throws(() => parseConfig(input as object), { message: new RegExp(`"${name}" was removed\\. `) }, path)
    t.throws(() => parseConfig(input as object), {
      message: new RegExp(sentence.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')),
    })
    t.match(sentence, /^[A-Z].*\.$/, 'a sentence')
  }
})
