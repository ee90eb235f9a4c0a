import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { readConfigFrom } from '../../src/open/index.ts'
import { fileIn, listFaults } from './written.ts'

function readSaid(t: Test, text: string | Buffer): string {
  return listFaults({ file: fileIn(t, text, 's.yaml') }).join('\n') || 'valid'
}

t.test('a fault of YAML is one sentence at its line, in our own words', async (t) => {
  const indent = 'the indentation of this line does not match the surrounding lines'
  const colon = 'a key needs a colon and a space after it'
  const value = 'a colon follows the value. Quote the value, or indent the next line like this line'
  const rows: readonly (readonly [text: string, says: string])[] = [
    ['mode: monitor\n---\nmode: enforce\n', '2: a second document begins here (---), but a file may contain only one'],
    ['mode: monitor\nmode: enforce\n', '2: this key occurs twice'],
    ['limits:\n\tinFlight: 2\n', '2: the line begins with a tab. Indent with spaces'],
    ['admin: 127.0.0.1:\n', `1: ${value}`],
    ['mode: monitor\n  listen: a\n', `1: ${value}`],
    ['mode: monitor\nlisten: "a\n', '3: an earlier quote is not closed'],
    ['mode: @x\n', '1: a value cannot begin with this character. Quote the value'],
    ['mode: monitor\nlisten: *place\n', '2: *place has no &place before it'],
    ['mode: *a\nlisten: &a 127.0.0.1:8080\n', '1: *a has no &a before it'],
    ['mode: monitor\nadminOpen: &all [*all]\n', '2: *all refers to its own node'],
    ['mode: "\\q"\n', '1: the file is not valid YAML: invalid escape sequence \\q'],
    ['mode: |x\n', '1: the file is not valid YAML: block scalar header includes extra characters: |x'],
    ['lists:\n    a: []\n  b: []\n', `3: ${indent}`],
    ['trustProxy:\n  - loopback\n - 10.0.0.1\n', `3: ${indent}`],
    ['policy:\n  rules:\n    - id: a\n     match: {}\n', `4: ${indent}`],
    ['mode: monitor\nlisten 127.0.0.1:8080\n', `2: ${colon}`],
    ['mode monitor\nlisten: x\n', `1: ${colon}, on one line`],
    ['lists: [a\nmode: monitor\n', '2: an earlier bracket is not closed, or a line inside it is not indented'],
    ['net: {outbound: true ports: 1}\n', '1: a comma or closing bracket is missing before this'],
    ['mode: "monitor" x\n', '1: this is unexpected after the preceding value'],
    ['trustProxy: - loopback\n', '1: a list must begin on the line after its key'],
  ]
  for (const [text, says] of rows) t.equal(readSaid(t, text), `s.yaml:${says}`, JSON.stringify(text))
  t.equal(readSaid(t, '- mode\n'), 's.yaml: must be a map of keys')
  const bomb = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`).join('\n')
  t.equal(readSaid(t, `a0: &a0 [x]\n${bomb}\n`), 's.yaml: its aliases (*) expand to too many nodes')
})

t.test('an alias stands for the anchor before it, of several with its name the last', async (t) => {
  const rule = '{ id: own, match: { address: [*a] }, action: allow }'
  const text = `policy:\n  preset: &a observe\n  allowlist: [&a 5.9.10.0/24]\n  rules: [${rule}]\n`
  t.equal(readSaid(t, text), 'valid')
})

t.test('a file in another encoding, and one that is none, say so', async (t) => {
  const wide = Buffer.from('\ufeffmode: monitor\n', 'utf16le')
  for (const text of [wide, Buffer.from([0xfe, 0xff, 0, 0x61])])
    t.equal(readSaid(t, text), 's.yaml: is encoded in UTF-16. Save it as UTF-8')
  t.equal(readSaid(t, Buffer.from('mode: \0\n')), 's.yaml: contains zero bytes, so it is not UTF-8 text')
  t.equal(readSaid(t, '\ufeffmode: monitor\n'), 'valid', 'a mark of UTF-8 is none of it')
  const none = `${dirname(fileIn(t, ''))}/none.yaml`
  for (const [file, says] of [
    [dirname(none), 'is a folder'],
    [none, 'does not exist'],
  ] as const) {
    t.throws(() => readConfigFrom({ file }), { message: `configuration: ${file} ${says}` })
  }
})
