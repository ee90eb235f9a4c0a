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

/** Outcome of every case of `madeEvidence`: the axes that are not `pass`. */
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
  'with a timestamp': { completeness: 'not_provided', consistency: 'not_provided' },
  'without its timestamp': { completeness: 'not_provided', consistency: 'not_provided' },
  'with a cosignature': { completeness: 'not_provided', consistency: 'not_provided', time: 'pass' },
  'with a cosignature of a stranger': { completeness: 'not_provided', consistency: 'not_provided' },
  'with the cosignature of another checkpoint': {
    completeness: 'not_provided',
    consistency: 'not_provided',
    time: 'fail',
  },
}

/** Made evidence has no timestamps. */
const ALL_PASS = { ...Object.fromEntries(AXES.map((axis) => [axis, 'pass'])), time: 'not_provided' }

t.test('evidence of every kind comes to what it should', async (t) => {
  const cases = await madeEvidence()
  t.same(
    cases.map(({ name }) => name),
    Object.keys(WANTED),
  )
  for (const { name, evidence, keys, witnesses } of cases) {
    t.same(listOutcomes(verifyEvidence(evidence, keys, undefined, witnesses)), { ...ALL_PASS, ...WANTED[name] }, name)
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
  for (const [text, said] of [
    ['null', 'The file holds null and no evidence, which is a JSON object.'],
    ['[]', 'The file holds a list and no evidence, which is a JSON object.'],
    ['1', 'The file holds a number and no evidence, which is a JSON object.'],
    ['""', 'The file holds a text and no evidence, which is a JSON object.'],
    ['true', 'The file holds a boolean and no evidence, which is a JSON object.'],
    ['', 'The file: not JSON'],
    ['{}', 'media_type: not a text'],
    ['{"a":1,"b":{},"\\u0061":2}', 'The file: "a" is there twice in one object'],
  ] as const) {
    const { ok, axes } = verifyEvidence(text)
    t.same([ok, axes.format], [false, { outcome: 'fail', detail: said }])
  }
  t.equal(verifyEvidence(null).axes.format.detail, 'The file holds null and no evidence, which is a JSON object.')
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
  const [key] = made.keys.keys
  const many = { keys: Array.from({ length: 1001 }, () => key) }
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
