import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { tracked } from './fences.ts'

/* A decision names a cost that is paid at some line of this repository: each is cited there, and each citation has its decision. */
const FILE = '.github/DECISIONS.md'
const DECISIONS = readFileSync(join(ROOT, FILE), 'utf8')

/** The decisions of a text like DECISIONS.md, in order. */
function decisionsOf(text: string): readonly string[] {
  return [...text.matchAll(/^- \*\*(D\d+) /gm)].map((match) => match[1] ?? '')
}

/** The decisions that a text cites. A number with a hyphen or a digit beside it is something else: an id, a hash. */
function citedIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w#-])D\d{1,3}(?![\w-])/g)].map(([name]) => name)
}

t.test('decisions and citations are found', async (t) => {
  t.same(decisionsOf('## Core\n- **D1 One.** Text: see D2.\n- **D34 Two**, text\n  - **D5 no**\n'), ['D1', 'D34'])
  t.same(citedIn('// As decided (D41), D7: and D8. Not AD9, D1000, 0xD1, FD12 or D3-4.'), ['D41', 'D7', 'D8'])
})

t.test('a number is given to one decision only', async (t) => {
  const names = decisionsOf(DECISIONS)
  t.ok(names.length > 50)
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

t.test('a decision has at most six lines', async (t) => {
  const entries = DECISIONS.split(/\n(?=- |\n|$)/).filter((text) => text.startsWith('- '))
  t.equal(entries.length, decisionsOf(DECISIONS).length)
  t.same(
    entries.filter((text) => text.split('\n').length > 6),
    [],
  )
})

t.test('a decision that is cited exists, and one that exists is cited by a source or a test', async (t) => {
  const decided = new Set(decisionsOf(DECISIONS))
  const files = tracked('*.ts', '*.tsx', '*.md').filter((path) => path !== 'test/documents/decisions.test.ts')
  const cited = files.flatMap((path) => citedIn(readFileSync(join(ROOT, path), 'utf8')).map((name) => ({ path, name })))
  t.same(
    cited.filter(({ name }) => !decided.has(name)),
    [],
  )
  const explained = new Set(cited.filter(({ path }) => !path.endsWith('.md')).map(({ name }) => name))
  t.same(
    [...decided].filter((name) => !explained.has(name)),
    [],
  )
})
