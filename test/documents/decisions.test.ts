import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { tracked } from './fences.ts'

/* DECISIONS holds what costs users something and no document explains. A comment in the code states its reason, and needs no number. */
const DECISIONS = readFileSync(join(ROOT, '.github/DECISIONS.md'), 'utf8')
const MAX_WORDS = 2_600

function listDecisions(text: string): readonly string[] {
  return text.match(/(?<=^- \*\*)D\d+(?= )/gm) ?? []
}

/** Lists the decisions that a text cites. A number with a hyphen or a digit beside it is something else: an id, a hash. */
function listCitations(text: string): readonly string[] {
  return text.match(/(?<![\w#-])D\d{1,3}(?![\w-])/g) ?? []
}

const citationsIn = (...patterns: readonly string[]) =>
  tracked(...patterns)
    .filter((path) => path !== 'test/documents/decisions.test.ts')
    .flatMap((path) => listCitations(readFileSync(join(ROOT, path), 'utf8')).map((name) => ({ path, name })))

t.test('decisions and citations are found', async (t) => {
  t.same(listDecisions('## Core\n- **D1 One.** Text: see D2.\n- **D34 Two**, text\n  - **D5 no**\n'), ['D1', 'D34'])
  t.same(listCitations('// As decided (D41), D7: and D8. Not AD9, D1000, 0xD1, FD12 or D3-4.'), ['D41', 'D7', 'D8'])
})

t.test('decisions are short and numbered, and so is their list', async (t) => {
  const names = listDecisions(DECISIONS)
  t.ok(names.length > 30)
  t.equal(new Set(names).size, names.length, 'a number is given to one decision only')
  const entries = DECISIONS.split(/\n(?=- |\n|$)/).filter((text) => text.startsWith('- '))
  t.equal(entries.length, names.length)
  t.ok(entries.every((text) => text.split('\n').length <= 6))
  const words = DECISIONS.split(/\s+/).length
  t.ok(words <= MAX_WORDS, `${words} words`)
})

t.test('a decision that a document cites exists, and sources state reasons and cite no numbers', async (t) => {
  const decided = listDecisions(DECISIONS)
  const unknown = citationsIn('*.md').filter(({ name }) => !decided.includes(name))
  t.same(unknown, [])
  t.same(citationsIn('*.ts', '*.tsx', '*.mjs', '*.css', '*.html'), [])
})
