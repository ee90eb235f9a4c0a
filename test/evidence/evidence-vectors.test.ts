import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EvidenceJson } from '@sallyport/ledger'
import { AXES, type EvidenceReport, verifyEvidence } from '@sallyport/ledger/verify'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { type EvidenceCase, madeEvidence, odd, tampered } from './evidence-cases.ts'

/*
 * Two verifiers, written apart and in two languages, must agree on every axis of every vector: of evidence as it is
 * made, and of evidence with one value changed anywhere in it.
 */
const PYTHON_VERIFIER = join(ROOT, 'test/evidence/verify_evidence.py')
const VECTORS = join(ROOT, 'test/evidence/evidence-vectors.json')

const hasPython = spawnSync('python3', ['--version']).status === 0
const NO_PYTHON = hasPython ? false : 'python3 is not installed'

type Outcomes = Readonly<Record<string, string>>

function outcomesOf({ axes }: EvidenceReport): Outcomes {
  return Object.fromEntries(AXES.map((axis) => [axis, axes[axis].outcome]))
}

function byPython(cases: readonly EvidenceCase[]): readonly Outcomes[] {
  const input = cases.map(({ evidence, keys }) => JSON.stringify({ evidence, keys })).join('\n')
  const { stdout, stderr, status } = spawnSync('python3', [PYTHON_VERIFIER], {
    input,
    maxBuffer: 1 << 28,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What every case of `madeEvidence` comes to: the axes that are not `pass`. */
const WANTED: Readonly<Record<string, Outcomes>> = {
  'one record': { completeness: 'not_provided' },
  'one record, nobody trusted': { authenticity: 'not_provided', completeness: 'not_provided' },
  'the first record': { completeness: 'not_provided' },
  'the only record of a log': { completeness: 'not_provided', consistency: 'not_provided' },
  'the last record': { completeness: 'not_provided', consistency: 'not_provided' },
  'a whole log': { consistency: 'not_provided' },
  'a range within': {},
  erased: { completeness: 'not_provided', disclosure: 'not_provided' },
  'partly erased': {},
  'after a rotation, by the new keys': { completeness: 'not_provided' },
  'after a rotation, by keys kept from before': { completeness: 'not_provided' },
  'from before a rotation, by the new keys': { completeness: 'not_provided' },
  'signed by a key that was given up': {
    authenticity: 'fail',
    completeness: 'not_provided',
  },
  'signed anew after a key was given up': { completeness: 'not_provided', consistency: 'not_provided' },
  'other keys': { authenticity: 'fail', completeness: 'not_provided' },
  'a retired key for a later record': {
    authenticity: 'fail',
    completeness: 'not_provided',
  },
}

const ALL_PASS = Object.fromEntries(AXES.map((axis) => [axis, 'pass']))

t.test('evidence of every kind comes to what it should', async (t) => {
  const cases = await madeEvidence()
  t.same(
    cases.map(({ name }) => name),
    Object.keys(WANTED),
  )
  for (const { name, evidence, keys } of cases) {
    t.same(outcomesOf(verifyEvidence(evidence, keys)), { ...ALL_PASS, ...WANTED[name] }, name)
  }
})

t.test(
  'evidence is, to the byte, what is in the file of vectors; test/evidence/write-evidence-vectors.ts writes it again',
  async (t) => {
    const made = JSON.parse(JSON.stringify(await madeEvidence()))
    // Signatures, salts and times are the same in every run, so a change of one byte of the form shows here.
    t.same(JSON.parse(readFileSync(VECTORS, 'utf8')), made)
  },
)

t.test('the verifier in Python agrees on every vector', { skip: NO_PYTHON }, async (t) => {
  const cases = await madeEvidence()
  const found = byPython(cases)
  for (const [index, { name, evidence, keys }] of cases.entries()) {
    t.same(found[index], outcomesOf(verifyEvidence(evidence, keys)), name)
  }
})

t.test('both treat one change anywhere alike, and never turns into a pass', { skip: NO_PYTHON }, async (t) => {
  const cases = (await madeEvidence()).filter(({ name }) => name === 'a range within' || name === 'one record')
  const changed = cases.flatMap(({ name, evidence, keys }) =>
    tampered(evidence)
      // The records in the middle of a range are like those at its ends.
      .filter(([path]) => !/^records\.[123]\./.test(path))
      .map(([path, wrong]): EvidenceCase => ({ name: `${name}: ${path}`, evidence: wrong, keys })),
  )
  const ours = changed.map(({ evidence, keys }) =>
    outcomesOf(verifyEvidence(JSON.parse(JSON.stringify(evidence)), keys)),
  )
  const theirs = byPython(changed)
  t.ok(changed.length > 500, `${changed.length} changes`)
  t.same(
    changed.flatMap(({ name }, index) => (JSON.stringify(ours[index]) === JSON.stringify(theirs[index]) ? [] : [name])),
    [],
    'both say the same',
  )
  const unseen = changed.filter((_, index) => !Object.values(ours[index] ?? {}).includes('fail'))
  const free =
    /: (created_at|statements|keys|query|disclosure|neighbors\.next|consistency\.absent|records\.\d\.disclosure|.*doubled)/
  t.same(
    unseen.map(({ name }) => name).filter((name) => !free.test(name)),
    [],
    'what nobody sees is not proved by it',
  )
})

t.test('what languages read differently is no evidence to either', { skip: NO_PYTHON }, async (t) => {
  const [one] = await madeEvidence()
  const cases = odd(one?.evidence as EvidenceJson).map(([name, evidence]) => ({ name, evidence, keys: one?.keys }))
  const theirs = byPython(cases)
  for (const [index, { name, evidence, keys }] of cases.entries()) {
    const ours = verifyEvidence(evidence, keys)
    t.equal(ours.ok, false, name)
    t.same(theirs[index], outcomesOf(ours), name)
  }
})
