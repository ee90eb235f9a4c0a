import { parseWhoisText } from '@sallyport/whois'
import { median } from '../rounds.ts'
import { type Collected, collectedAnswers, factsRight, type Reading } from './answers.ts'
import { readingOfRdapper, withAnsweringSockets } from './rdapper.ts'

const MEGABYTE = 1024 * 1024

/** Text that makes careless patterns walk back and forth: long runs of what labels, dates and names are made of. */
const NOISE: Readonly<Record<string, string>> = {
  'random bytes': Array.from({ length: MEGABYTE }, () => String.fromCharCode(Math.floor(Math.random() * 256))).join(''),
  'one line of spaces': ' '.repeat(MEGABYTE),
  'one line of digits': '2001-'.repeat(MEGABYTE / 5),
  'one line of brackets': '[('.repeat(MEGABYTE / 2),
  'one line of labels': 'a: '.repeat(MEGABYTE / 3),
  'empty lines': '\n'.repeat(MEGABYTE),
  'lines of servers': 'Name Server: a.b.c.d.e.f.g\n'.repeat(MEGABYTE / 27),
  'lines of dates': `Creation Date: ${'1 jan '.repeat(12)}\n`.repeat(MEGABYTE / 88),
  'lines of states': `Status: ${'a;'.repeat(40)}\n`.repeat(MEGABYTE / 89),
  'lines of phrases': 'no match for "a.b.c" is available\n'.repeat(MEGABYTE / 34),
  'lines of wordings': 'your domain name query has been not yet or been known\n\n'.repeat(MEGABYTE / 55),
  headings: 'Registrant:\n'.repeat(MEGABYTE / 12),
}

const LABELS = ['Domain Name', 'Registrar', 'Creation Date', 'Updated Date', 'Name Server', 'Status', 'Registrant Name']
const NAUGHTY = [
  ...['__proto__', '<script>alert(1)</script>', "'; DROP TABLE domains; --", '%s%x%n', '\0\u202e\ufeff', '\ud800', '-'],
  ...['9', ':', '(', ' ', '2001-', 'a.', 'a;', '1 jan ', 'no match ', '\t'].map((piece) => piece.repeat(10_000)),
]

const ROUNDS = 5

interface Reader {
  /** What is read by the next `read`. */
  readonly say: (text: string) => void
  readonly read: () => Reading | Promise<Reading>
}

/**
 * How right the reading of port-43 answers is and how long it takes, beside rdapper's: on every collected answer where
 * they are here, and on 1 MB of noise.
 */
export async function benchWhois(): Promise<void> {
  const answers = collectedAnswers()
  if (answers.length === 0) console.log('\nThe collected answers are not here: nothing is judged.')
  await withAnsweringSockets(async (say) => {
    const readers = { sallyport: ownReader(), 'rdapper 0.16.4': { say, read: readingOfRdapper } }
    const judged: Record<string, Readonly<Record<string, string | number>>> = {}
    const noise: Record<string, Record<string, number>> = {}
    for (const [name, reader] of Object.entries(readers)) {
      if (answers.length > 0) judged[name] = await judge(reader, answers)
      for (const [kind, text] of Object.entries(NOISE)) {
        noise[`1 MB: ${kind}`] = { ...noise[`1 MB: ${kind}`], [name]: rounded((await timed(reader, text)).best) }
      }
      const kind = `${NAUGHTY.length} naughty strings in each of ${LABELS.length} fields, the slowest`
      noise[kind] = { ...noise[kind], [name]: rounded(await slowestField(reader)) }
    }
    console.log(`\nReading ${answers.length} collected port-43 answers`)
    console.table(judged)
    console.log('\nReading noise, in milliseconds')
    console.table(noise)
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

async function judge(
  reader: Reader,
  answers: readonly Collected[],
): Promise<Readonly<Record<string, string | number>>> {
  const facts = { right: 0, all: 0 }
  const states = { right: 0, all: 0, rightOnce: 0, once: 0, rightPlain: 0, plain: 0 }
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
    if (answer.state === undefined) continue
    const right = reading.state === answer.state ? 1 : 0
    states.all++
    states.right += right
    states.once += answer.filedOnce ? 1 : 0
    states.rightOnce += answer.filedOnce ? right : 0
    const plain = answer.state === 'registered' || answer.state === 'free'
    states.plain += plain ? 1 : 0
    states.rightPlain += plain ? right : 0
  }
  return {
    'fields right': share(facts.right, facts.all),
    'states right': share(states.right, states.all),
    'of texts filed under one state': share(states.rightOnce, states.once),
    'of registered and free': share(states.rightPlain, states.plain),
    crashes,
    'median ms': rounded(median(times)),
    'slowest ms': rounded(Math.max(...times)),
  }
}

/** What is read, and the best time of some rounds, because other work on the machine only ever adds. */
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

function share(right: number, all: number): string {
  return `${((100 * right) / all).toFixed(1)} % of ${all}`
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toFixed(3))
}
