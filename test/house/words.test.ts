import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tracked } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'

/*
 * Plain English in the field's terms (.github/CONTRIBUTING.md): where one of these words is written, a plainer one says
 * the same, or the field has a term for it.
 */

const STOP_WORDS = [
  'whoever',
  'anew',
  'by itself',
  'of its own accord',
  'makes? way',
  'lies? behind',
  'stands? in the way',
  '(?:is|are|was|were|be|been) told',
  'is met|are met|was met|were met',
  'takes? the place of',
] as const

/** This file, and vectors whose names are part of a published file. */
const EXCEPT = [
  'test/house/words.test.ts',
  'test/evidence/evidence-cases.ts',
  'test/evidence/evidence-vectors.long.test.ts',
]

/** A count has its word in the right number (`counted`), and is never left with an `(s)`. */
const STOPPED = new RegExp(`\\b(?:${STOP_WORDS.join('|')})\\b|\\bMOST_[A-Z]|\\} [a-z ]+\\(s\\)`, 'i')

t.test('sources, tests and data avoid the words for which plainer ones exist', async (t) => {
  const files = tracked('*.ts', '*.tsx', 'data/*.json', 'examples/*.yaml').filter((path) => !EXCEPT.includes(path))
  t.ok(files.length > 400, `${files.length} files are read`)
  const found = files.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => (STOPPED.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
  t.same(found, [])
})

/** Documents, without old decisions, and without the page that lists these words. */
const DOCUMENTS = tracked('*.md').filter((path) => !/(?:DECISIONS|CONTRIBUTING)\.md$/.test(path))
/** A sentence of prose that begins without its subject; headings may. */
const SUBJECTLESS = /(?:^|[.!?] |^[-*] |^\d+\. |\| )(?:Of|Who|Whom|Whose|What|Where) [a-z]/

t.test('documents avoid them too, and begin a sentence with its subject', async (t) => {
  t.ok(DOCUMENTS.length > 25)
  const found = DOCUMENTS.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        STOPPED.test(line) || SUBJECTLESS.test(line) ? [`${path}:${index + 1}: ${line}`] : [],
      ),
  )
  t.same(found, [])
})
