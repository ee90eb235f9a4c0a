import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, faultText, readConfigFrom } from '../../src/open/index.ts'

/** The faults of a file, without its folder. */
function saidOf(folder: string, text: string | Buffer): string {
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

t.test('a fault of YAML is one sentence at its line, in our own words', (t) => {
  const folder = t.testdir()
  const rows: readonly (readonly [text: string, says: string])[] = [
    ['mode: monitor\n---\nmode: enforce\n', 's.yaml:2: a second document begins here (---): a file holds one'],
    ['mode: monitor\nmode: enforce\n', 's.yaml:2: this key is there twice'],
    ['limits:\n\tinFlight: 2\n', 's.yaml:2: the line begins with a tab: indent with spaces'],
    [
      'admin: 127.0.0.1:\n',
      's.yaml:1: a value holds a colon as a key does: put it in quotes, or the key on its own line',
    ],
    ['mode: monitor\nlisten: "a\n', 's.yaml:3: a quote or a bracket before this is not closed'],
    ['mode: @x\n', 's.yaml:1: a value cannot begin with this character: put it in quotes'],
    ['mode: monitor\nlisten: *place\n', 's.yaml:2: *place stands for nothing: no &place is before it'],
    ['mode: monitor\nadminOpen: &all [*all]\n', 's.yaml:2: *all stands for what it is in'],
    ['mode: "\\q"\n', 's.yaml:1: it is not YAML: invalid escape sequence \\q'],
    ['- mode\n', 's.yaml: must be a map of keys'],
  ]
  for (const [text, says] of rows) t.equal(saidOf(folder, text), says, JSON.stringify(text))
  const bomb = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`).join('\n')
  t.equal(saidOf(folder, `a0: &a0 [x]\n${bomb}\n`), 's.yaml: its aliases (*) repeat more than can be read')
  t.end()
})

t.test('a file in another encoding, and one that is none, say so', (t) => {
  const folder = t.testdir()
  const wide = Buffer.from('\ufeffmode: monitor\n', 'utf16le')
  t.equal(saidOf(folder, wide), 's.yaml: is written in UTF-16: save it as UTF-8')
  t.equal(saidOf(folder, Buffer.from('mode: \0\n')), 's.yaml: holds zero bytes: it is no text in UTF-8')
  t.equal(saidOf(folder, '\ufeffmode: monitor\n'), 'valid', 'a mark of UTF-8 is none of it')
  t.throws(() => readConfigFrom({ file: folder }), { message: `configuration: ${folder} is a folder` })
  const none = join(folder, 'none.yaml')
  t.throws(() => readConfigFrom({ file: none }), { message: `configuration: ${none} does not exist` })
  t.end()
})
