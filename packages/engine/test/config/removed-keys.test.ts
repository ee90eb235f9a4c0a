import t from 'tap'
import { parseConfig } from '../../src/config/read.ts'
import { REMOVED_KEYS } from '../../src/config/removed-keys.ts'

t.test('each key of an earlier version is refused with the sentence that says what to use instead', async (t) => {
  for (const [path, sentence] of Object.entries(REMOVED_KEYS)) {
    const keys = path.split('.').map((part) => (part === '*' ? 'any' : part))
    const input = keys.reduceRight<unknown>((value, key) => ({ [key]: value }), 'x')
    t.throws(() => parseConfig(input as object), { message: new RegExp(`"${keys.join('\\.')}" was removed\\. `) }, path)
    t.throws(() => parseConfig(input as object), {
      message: new RegExp(sentence.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')),
    })
    t.match(sentence, /^[A-Z].*\.$/, 'a sentence')
  }
})
