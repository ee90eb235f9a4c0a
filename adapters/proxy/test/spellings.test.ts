import { foldedName } from '@sallyport/node/internal'
import t from 'tap'
import { createSpellings } from '../src/fields/spellings.ts'

t.test('a spelling is what is folded to the name, and nothing else is', async (t) => {
  const names = ['te', 'host', 'x-real-ip', 'x-host']
  const read = createSpellings(names)
  const wrong: string[] = []
  for (const name of [...names, '', 'x-hosts', 'x-real-io', 'sec-fetch-site']) {
    for (let at = 0; at <= name.length; at += 1) {
      for (let code = 0x21; code < 0x7f; code += 1) {
        const field = name.slice(0, at) + String.fromCharCode(code) + name.slice(at + 1)
        if (read(field) !== names.find((known) => known === foldedName(field))) wrong.push(field)
      }
    }
  }
  t.strictSame(wrong, [])
  t.equal(read('X_REAL!IP'), 'x-real-ip')
})
