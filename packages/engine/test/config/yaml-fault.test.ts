import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, faultText, readConfigFrom } from '../../src/open/index.ts'

/** Reads the faults of a file and removes its folder from them. */
function readSaid(folder: string, text: string | Buffer): string {
  const file = join(folder, 's.yaml')
  writeFileSync(file, text)
  try {
    readConfigFrom({ file })
    return 'valid'
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map((fault) => faultText(fault).replaceAll(`${folder}/`, '')).join('\n')
  }
}

t.test('a fault of YAML is one sentence at its line, in our own words', async (t) => {
  const folder = t.testdir()
  const rows: readonly (readonly [text: string, says: string])[] = [
    [
      'mode: monitor\n---\nmode: enforce\n',
      's.yaml:2: a second document begins here (---), but a file may contain only one',
    ],
    ['mode: monitor\nmode: enforce\n', 's.yaml:2: this key occurs twice'],
    ['limits:\n\tinFlight: 2\n', 's.yaml:2: the line begins with a tab. Indent with spaces'],
    [
      'admin: 127.0.0.1:\n',
      's.yaml:1: a colon follows the value. Quote the value, or indent the next line like this line',
    ],
    ['mode: monitor\nlisten: "a\n', 's.yaml:3: an earlier quote is not closed'],
    ['mode: @x\n', 's.yaml:1: a value cannot begin with this character. Quote the value'],
    ['mode: monitor\nlisten: *place\n', 's.yaml:2: *place has no &place before it'],
    ['mode: monitor\nadminOpen: &all [*all]\n', 's.yaml:2: *all refers to its own node'],
    ['mode: "\\q"\n', 's.yaml:1: the file is not valid YAML: invalid escape sequence \\q'],
    ['- mode\n', 's.yaml: must be a map of keys'],
  ]
  for (const [text, says] of rows) t.equal(readSaid(folder, text), says, JSON.stringify(text))
  const bomb = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`).join('\n')
  t.equal(readSaid(folder, `a0: &a0 [x]\n${bomb}\n`), 's.yaml: its aliases (*) expand to too many nodes')
})

t.test('indents, colons and brackets have words of their own, though the library has one code for some', async (t) => {
  const folder = t.testdir()
  const indent = 'the indentation of this line does not match the surrounding lines'
  const colon = 'a key needs a colon and a space after it'
  const value = 'a colon follows the value. Quote the value, or indent the next line like this line'
  const rows: readonly (readonly [text: string, says: string])[] = [
    ['lists:\n    a: []\n  b: []\n', `3: ${indent}`],
    ['trustProxy:\n  - loopback\n - 10.0.0.1\n', `3: ${indent}`],
    ['policy:\n  rules:\n    - id: a\n     match: {}\n', `4: ${indent}`],
    ['mode: monitor\n  listen: a\n', `1: ${value}`],
    ['mode: monitor\nlisten\n', `2: ${colon}`],
    ['mode: monitor\nlisten 127.0.0.1:8080\n', `2: ${colon}`],
    ['mode monitor\nlisten: x\n', `1: ${colon}, on one line`],
    ['lists: [a\nmode: monitor\n', '2: an earlier bracket is not closed, or a line inside it is not indented'],
    ['net: {outbound: true ports: 1}\n', '1: a comma or closing bracket is missing before this'],
    ['mode: "monitor" x\n', '1: this is unexpected after the preceding value'],
    ['trustProxy: - loopback\n', '1: a list must begin on the line after its key'],
    ['mode: |x\n', '1: the file is not valid YAML: block scalar header includes extra characters: |x'],
  ]
  for (const [text, says] of rows) t.equal(readSaid(folder, text), `s.yaml:${says}`, JSON.stringify(text))
})

t.test('an alias stands for the anchor before it, of several with its name the last', async (t) => {
  const folder = t.testdir()
  const rule = '{ id: own, match: { address: [*a] }, action: allow }'
  t.equal(
    readSaid(folder, `policy:\n  preset: &a observe\n  allowlist: [&a 5.9.10.0/24]\n  rules: [${rule}]\n`),
    'valid',
  )
  t.equal(readSaid(folder, 'mode: *a\nlisten: &a 127.0.0.1:8080\n'), 's.yaml:1: *a has no &a before it')
})

t.test('a file in another encoding, and one that is none, say so', async (t) => {
  const folder = t.testdir()
  const wide = Buffer.from('\ufeffmode: monitor\n', 'utf16le')
  t.equal(readSaid(folder, wide), 's.yaml: is encoded in UTF-16. Save it as UTF-8')
  t.equal(readSaid(folder, Buffer.from('mode: \0\n')), 's.yaml: contains zero bytes, so it is not UTF-8 text')
  t.equal(readSaid(folder, '\ufeffmode: monitor\n'), 'valid', 'a mark of UTF-8 is none of it')
  t.throws(() => readConfigFrom({ file: folder }), { message: `configuration: ${folder} is a folder` })
  const none = join(folder, 'none.yaml')
  t.throws(() => readConfigFrom({ file: none }), { message: `configuration: ${none} does not exist` })
})
