import { foldedName } from '@sallyport/node/internal'
import t from 'tap'
import { createFieldTable } from '../src/fields/field-table.ts'

t.test('a name in another spelling is misread, and no other name is', async (t) => {
  const names = ['te', 'host', 'x-real-ip', 'x-host']
  const known = new Map(names.map((name) => [name, name]))
  const table = createFieldTable<string>(
    known,
    (name) => `${name}?`,
    () => '',
  )
  const wrong: string[] = []
  for (const name of [...names, '', 'x-hosts', 'x-real-io', 'sec-fetch-site']) {
    for (let at = 0; at <= name.length; at += 1) {
      for (let code = 0x21; code < 0x7f; code += 1) {
        const lower = (name.slice(0, at) + String.fromCharCode(code) + name.slice(at + 1)).toLowerCase()
        const folded = foldedName(lower)
        const wanted = known.has(folded) ? (folded === lower ? lower : `${folded}?`) : ''
        if ((table.get(lower) ?? table.find(lower)) !== wanted) wrong.push(lower)
      }
    }
  }
  t.strictSame(wrong, [])
  t.equal(table.find('x_real!ip'), 'x-real-ip?')
})

t.test('as many names as clients like are classified, and few are kept', async (t) => {
  let asked = 0
  const table = createFieldTable<string>(
    new Map(),
    (name) => name,
    () => `${asked++}`,
  )
  for (let at = 0; at < 10_000; at++) table.find(`x-${at}`)
  t.ok(table.get('x-1'))
  t.equal(table.get('x-9999'), undefined)
})
