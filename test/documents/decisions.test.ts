import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { tracked } from './fences.ts'

/* DECISIONS holds what costs users something and no document explains. A comment in the code states its reason, and needs no number. */
const FILE = '.github/DECISIONS.md'
const DECISIONS = readFileSync(join(ROOT, FILE), 'utf8')
const MAX_WORDS = 2_600

/** Lists the decisions of a text like DECISIONS.md, in order. */
function listDecisions(text: string): readonly string[] {
  return [...text.matchAll(/^- \*\*(D\d+) /gm)].map((match) => match[1] ?? '')
}

/** Lists the decisions that a text cites. A number with a hyphen or a digit beside it is something else: an id, a hash. */
function listCitations(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w#-])D\d{1,3}(?![\w-])/g)].map(([name]) => name)
}

const citationsIn = (...patterns: readonly string[]) =>
  tracked(...patterns)
    .filter((path) => path !== 'test/documents/decisions.test.ts')
    .flatMap((path) => listCitations(readFileSync(join(ROOT, path), 'utf8')).map((name) => ({ path, name })))

t.test('decisions and citations are found', async (t) => {
  t.same(listDecisions('## Core\n- **D1 One.** Text: see D2.\n- **D34 Two**, text\n  - **D5 no**\n'), ['D1', 'D34'])
  t.same(listCitations('// As decided (D41), D7: and D8. Not AD9, D1000, 0xD1, FD12 or D3-4.'), ['D41', 'D7', 'D8'])
})

t.test('a number is given to one decision only', async (t) => {
  const names = listDecisions(DECISIONS)
  t.ok(names.length > 30)
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

t.test('decisions are short, and so is their list', async (t) => {
  const entries = DECISIONS.split(/\n(?=- |\n|$)/).filter((text) => text.startsWith('- '))
  t.equal(entries.length, listDecisions(DECISIONS).length)
  t.same(
    entries.filter((text) => text.split('\n').length > 6),
    [],
  )
  const words = DECISIONS.split(/\s+/).length
  t.ok(words <= MAX_WORDS, `${words} words`)
})

t.test('a decision that a document cites exists', async (t) => {
  const decided = new Set(listDecisions(DECISIONS))
  t.same(
    citationsIn('*.md').filter(({ name }) => !decided.has(name)),
    [],
  )
})

t.test('sources state reasons and cite no numbers', async (t) => {
  t.same(citationsIn('*.ts', '*.tsx', '*.mjs', '*.css', '*.html'), [])
})
