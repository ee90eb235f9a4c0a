import { parseWhoisText } from '@sallyport/engine'
import { counted, type Figure, type Spread, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { type Collected, collectedAnswers, factsRight, type Reading } from './answers.ts'
import { readingOfRdapper, withAnsweringSockets } from './rdapper.ts'

const MEGABYTE = 1024 * 1024

/** Text that makes careless patterns walk back and forth: long runs of what labels, dates and names are made of. */
const noiseOf = (size: number): Readonly<Record<string, string>> => ({
  'random bytes': Array.from({ length: size }, () => String.fromCharCode(Math.floor(Math.random() * 256))).join(''),
  'one line of spaces': ' '.repeat(size),
  'one line of digits': '2001-'.repeat(size / 5),
  'one line of brackets': '[('.repeat(size / 2),
  'one line of labels': 'a: '.repeat(size / 3),
  'empty lines': '\n'.repeat(size),
  'lines of servers': 'Name Server: a.b.c.d.e.f.g\n'.repeat(size / 27),
  'lines of dates': `Creation Date: ${'1 jan '.repeat(12)}\n`.repeat(size / 88),
  'lines of states': `Status: ${'a;'.repeat(40)}\n`.repeat(size / 89),
  'lines of phrases': 'no match for "a.b.c" is available\n'.repeat(size / 34),
  'lines of wordings': 'your domain name query has been not yet or been known\n\n'.repeat(size / 55),
  headings: 'Registrant:\n'.repeat(size / 12),
})

const LABELS = ['Domain Name', 'Registrar', 'Creation Date', 'Updated Date', 'Name Server', 'Status', 'Registrant Name']
const NAUGHTY = [
  '__proto__',
  '<script>alert(1)</script>',
  "'; DROP TABLE domains; --",
  '%s%x%n',
  '\0\u202e\ufeff',
  '\ud800',
  '-',
  ...['9', ':', '(', ' ', '2001-', 'a.', 'a;', '1 jan ', 'no match ', '\t'].map((piece) => piece.repeat(10_000)),
]

const ROUNDS = 5

interface Reader {
  /** Sets the text for the next `read`. */
  readonly say: (text: string) => void
  readonly read: () => Reading | Promise<Reading>
}

/**
 * How right the reading of port-43 answers is and how long it takes, beside rdapper's: on every collected answer where
 * they are here, and on 1 MB of noise.
 */
export async function benchWhois(run: Run): Promise<void> {
  const answers = collectedAnswers()
  if (answers.length === 0) run.skip('collected answers, which are not here: nothing is judged (SALLYPORT_SHARED_DATA)')
  await withAnsweringSockets(async (say) => {
    const readers = { Sallyport: ownReader(), '`rdapper` 0.16.4': { say, read: readingOfRdapper } }
    const judged: Figure[] = []
    const noise: Figure[] = []
    for (const [name, reader] of Object.entries(readers)) {
      run.step(name)
      if (answers.length > 0) judged.push(...(await judge(name, reader, answers)))
      const slow = name === 'Sallyport' ? { goal: { atMost: 50 } } : {}
      const kinds = Object.entries(noiseOf(run.pick(MEGABYTE, MEGABYTE / 16)))
      const times: number[] = []
      for (const [kind, text] of kinds) {
        run.step(`${name}, ${kind}`)
        times.push((await timed(reader, text)).best)
      }
      const value = { median: Math.max(...times), runs: 1 }
      noise.push({
        case: `1 MB of noise of ${kinds.length} kinds, the slowest`,
        what: name,
        unit: 'ms',
        value,
        ...slow,
      })
      const fields = `${NAUGHTY.length} naughty strings in each of ${LABELS.length} fields, the slowest`
      noise.push({ case: fields, what: name, unit: 'ms', value: { median: await slowestField(reader), runs: 1 } })
    }
    const title = `${answers.length.toLocaleString('en')} answers of port 43, and noise, the best of five`
    run.table({ title, figures: [...judged, ...noise] })
  })
}

async function slowestField(reader: Reader): Promise<number> {
  let slowest = 0
  for (const label of LABELS) {
    for (const text of NAUGHTY) {
      for (const answer of [`${label}: ${text}`, `${label}:\n   ${text}`]) {
        slowest = Math.max(slowest, (await timed(reader, answer)).best)
      }
    }
  }
  return slowest
}

function ownReader(): Reader {
  let text = ''
  return {
    say: (next) => {
      text = next
    },
    read: () => {
      const finding = parseWhoisText(text)
      return { state: finding.state, facts: finding.state === 'registered' ? finding.record : {} }
    },
  }
}

async function judge(name: string, reader: Reader, answers: readonly Collected[]): Promise<readonly Figure[]> {
  const facts = { right: 0, all: 0 }
  const states = { right: 0, all: 0 }
  const times: number[] = []
  let crashes = 0
  for (const answer of answers) {
    const { reading, best } = await timed(reader, answer.raw)
    times.push(best)
    if (reading.state === 'crashed') crashes++
    if (answer.judgedByFacts) {
      const [right, all] = factsRight(answer, reading)
      facts.right += right
      facts.all += all
    }
    if (answer.state === undefined || !answer.filedOnce) continue
    states.all++
    if (reading.state === answer.state) states.right++
  }
  const figure = (what: string, unit: string, value: Spread): Figure => ({ case: what, what: name, unit, value })
  const share = (what: string, right: number, all: number) =>
    figure(`${what}, of ${all.toLocaleString('en')}`, '%', counted((100 * right) / all))
  return [
    share('facts right', facts.right, facts.all),
    share('states of texts that are filed under one state only', states.right, states.all),
    figure('crashes', '', counted(crashes)),
    figure('reading an answer, median', 'ms', spreadOf(times)),
  ]
}

/** The reading, and the best time of some rounds, because other work on the machine only ever adds. */
async function timed(
  { say, read }: Reader,
  text: string,
): Promise<{ readonly reading: Reading; readonly best: number }> {
  say(text)
  let reading: Reading = { state: 'crashed', facts: {} }
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    try {
      const answer = read()
      reading = answer instanceof Promise ? await answer : answer
    } catch {
      reading = { state: 'crashed', facts: {} }
    }
    best = Math.min(best, performance.now() - start)
  }
  return { reading, best }
}
