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
const PYTHON_VERIFIER = join(ROOT, 'examples/verify_evidence.py')
const VECTORS = join(ROOT, 'test/evidence/evidence-vectors.json')

const hasPython = spawnSync('python3', ['--version']).status === 0
const NO_PYTHON = hasPython ? false : 'python3 is not installed'

type Outcomes = Readonly<Record<string, string>>

function listOutcomes({ axes }: EvidenceReport): Outcomes {
  return Object.fromEntries(AXES.map((axis) => [axis, axes[axis].outcome]))
}

function byPython(cases: readonly EvidenceCase[]): readonly Outcomes[] {
  const input = cases.map(({ evidence, keys, witnesses }) => JSON.stringify({ evidence, keys, witnesses })).join('\n')
  const options = { input, maxBuffer: 1 << 28, encoding: 'utf8' } as const
  const { stdout, stderr, status } = spawnSync('python3', [PYTHON_VERIFIER], options)
  if (status !== 0) throw new Error(stderr)
  const lines = stdout.trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** Of every case of `madeEvidence` the axes that do not pass: those that are not provided, and those that fail or pass beside `time`. */
const ONE = ['completeness']
const LAST = ['completeness', 'consistency']
const WANTED: Readonly<Record<string, readonly [missing: readonly string[], more?: Outcomes]>> = {
  'one record': [ONE],
  'one record, nobody trusted': [['authenticity', ...ONE]],
  'the first record': [ONE],
  'the only record of a log': [LAST],
  'the last record': [LAST],
  'a whole log': [['consistency']],
  'a range within': [[]],
  erased: [['disclosure', ...ONE]],
  'partly erased': [[]],
  'after a rotation, by the new keys': [ONE],
  'after a rotation, by keys kept from before': [ONE],
  'from before a rotation, by the new keys': [ONE],
  'signed by a key that was given up': [ONE, { authenticity: 'fail' }],
  'signed again by the next key after a key was given up': [LAST],
  'other keys': [ONE, { authenticity: 'fail' }],
  'a retired key for a later record': [ONE, { authenticity: 'fail' }],
  'with a timestamp': [LAST],
  'without its timestamp': [LAST],
  'with a cosignature': [LAST, { time: 'pass' }],
  'with a cosignature of a stranger': [LAST],
  'with the cosignature of another checkpoint': [LAST, { time: 'fail' }],
}

/** Made evidence has no timestamps. */
const ALL_PASS = { ...Object.fromEntries(AXES.map((axis) => [axis, 'pass'])), time: 'not_provided' }

t.test('evidence of every kind comes to what it should', async (t) => {
  const cases = await madeEvidence()
  t.same(new Set(cases.map(({ name }) => name)), new Set(Object.keys(WANTED)))
  for (const { name, evidence, keys, witnesses } of cases) {
    const [missing = [], more] = WANTED[name] ?? []
    const wanted = { ...ALL_PASS, ...Object.fromEntries(missing.map((axis) => [axis, 'not_provided'])), ...more }
    t.same(listOutcomes(verifyEvidence(evidence, keys, undefined, witnesses)), wanted, name)
  }
})

t.test('evidence is the file of vectors, which test/evidence/write-evidence-vectors.ts writes', async (t) => {
  const made = JSON.parse(JSON.stringify(await madeEvidence()))
  // Signatures, salts and times are the same in every run, so a change of one byte of the form shows here.
  t.same(JSON.parse(readFileSync(VECTORS, 'utf8')), made)
})

t.test('the verifier in Python agrees on every vector', { skip: NO_PYTHON }, async (t) => {
  const cases = await madeEvidence()
  const found = byPython(cases)
  for (const [index, { name, evidence, keys, witnesses }] of cases.entries()) {
    t.same(found[index], listOutcomes(verifyEvidence(evidence, keys, undefined, witnesses)), name)
  }
})

/** Changes that leave nothing untrue: what the verifier says of them in place of what it said before. */
const SAID: readonly (readonly [path: RegExp, said: RegExp])[] = [
  [/^created_at\.change/, /the time of the export, [-\d:.TZ]+, is not signed/],
  [/^query\.(from|to)\.change/, /All records of the log from \S+ to \S+, as of the checkpoint/],
  [/^consistency\.absent/, /The file has no earlier checkpoint/],
  [/request_context\.absent/, /a context was recorded that is not in the file/],
  [/^keys\.keys\.shorter/, /The file has 0 keys; other keys count only if a trusted key has handed over to them/],
]

t.test('both verifiers treat one change anywhere alike', { skip: NO_PYTHON }, async (t) => {
  const names = [...['a range within', 'one record', 'the first record'], 'after a rotation, by the new keys']
  const cases = (await madeEvidence()).filter(({ name }) => names.includes(name))
  const changed = cases.flatMap(({ name, evidence, keys }) =>
    tampered(evidence)
      // The records in the middle of a range are like those at its ends.
      .filter(([path, text]) => !/^records\.[123]\./.test(path) && text !== JSON.stringify(evidence))
      .map(([path, text]) => ({ name: `${name}: ${path}`, path, evidence: text, keys, original: evidence })),
  )
  const ours = changed.map(({ evidence, keys }) => verifyEvidence(evidence, keys))
  const theirs = byPython(changed)
  t.ok(changed.length > 1500, `${changed.length} changes`)
  t.same(
    changed.flatMap(({ name }, index) =>
      JSON.stringify(listOutcomes(ours[index] as EvidenceReport)) === JSON.stringify(theirs[index]) ? [] : [name],
    ),
    [],
    'both say the same',
  )
  const before = new Map(cases.map(({ evidence, keys }) => [evidence, verifyEvidence(JSON.stringify(evidence), keys)]))
  const unsaid = changed.filter(({ path, original }, index) => {
    const { ok, axes } = ours[index] as EvidenceReport
    const told = AXES.map((axis) => axes[axis].detail).filter(
      (detail) => !AXES.some((axis) => before.get(original)?.axes[axis].detail === detail),
    )
    return ok && !SAID.some(([place, said]) => place.test(path) && told.some((detail) => said.test(detail)))
  })
  t.same(
    unsaid.map(({ name }) => name),
    [],
  )
})

t.test('a changed byte of the file never turns into something that was not said', async (t) => {
  const [, , first] = await madeEvidence()
  const text = JSON.stringify(first?.evidence)
  const before = verifyEvidence(text, first?.keys)
  const wrong: string[] = []
  // One of each class of bytes, at places all over the file.
  for (let at = 0; at < text.length; at += 7) {
    for (const byte of ['"', '\\', '{', '}', ',', ':', ' ', '0', 'a', '\u0000', '\u00e9', '\ud800', '']) {
      const changed = text.slice(0, at) + byte + text.slice(at + 1)
      const { ok, axes } = verifyEvidence(changed, first?.keys)
      if (changed !== text && ok && axes.format.detail === before.axes.format.detail) wrong.push(`${at} ${byte}`)
    }
  }
  t.same(wrong, [])
})

t.test('a file that holds no evidence is said to hold what it holds', async (t) => {
  const holds = (what: string) => `The file holds ${what} and no evidence, which is a JSON object.`
  for (const [text, said] of [
    ['null', holds('null')],
    ['[]', holds('a list')],
    ['1', holds('a number')],
    ['""', holds('a text')],
    ['', 'The file: not JSON'],
    ['{}', 'media_type: not a text'],
    ['{"a":1,"b":{},"\\u0061":2}', 'The file: "a" is there twice in one object'],
  ] as const) {
    const { ok, axes } = verifyEvidence(text)
    t.same([ok, axes.format], [false, { outcome: 'fail', detail: said }])
  }
})

t.test('a file of one long text is read like any other', async (t) => {
  for (const part of ['x', '\\\\', '\\"', '\\u0041']) {
    const text = `{"a":"${part.repeat(2_000_000)}","b":"${part}","b":1}`
    const { ok, axes } = verifyEvidence(text)
    t.same([ok, axes.format], [false, { outcome: 'fail', detail: 'The file: "b" is there twice in one object' }], part)
  }
})

t.test('a set of keys has an end', async (t) => {
  const [one] = await madeEvidence()
  const made = one?.evidence as EvidenceJson
  const many = { keys: Array(1001).fill(made.keys.keys[0]) }
  t.throws(() => verifyEvidence(one?.evidence, many), { message: 'keys.keys: more than 1000' })
})

t.test('a key is good from its beginning, which the export of its first second rounds up', async (t) => {
  const one = (await madeEvidence()).find(({ name }) => name === 'after a rotation, by the new keys')
  const made = one?.evidence as EvidenceJson
  const at = (moment: string) => verifyEvidence({ ...made, created_at: moment }, one?.keys)
  t.equal(at(made.created_at).axes.authenticity.outcome, 'pass')
  const early = at('2026-11-21T02:00:12.000Z').axes.authenticity
  t.same(early.outcome, 'fail')
  t.match(early.detail, /only a key signed it that was not yet in use when the file was made/)
})

t.test('text that languages read differently is no evidence to either', { skip: NO_PYTHON }, async (t) => {
  const [one] = await madeEvidence()
  const cases = odd(one?.evidence as EvidenceJson).map(([name, evidence]) => ({ name, evidence, keys: one?.keys }))
  const theirs = byPython(cases)
  for (const [index, { name, evidence, keys }] of cases.entries()) {
    const ours = verifyEvidence(evidence, keys)
    t.equal(ours.ok, false, name)
    t.same(theirs[index], listOutcomes(ours), name)
  }
})
