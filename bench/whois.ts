import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parseWhoisText } from '@sallyport/core'
import { median } from './rounds.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const ANSWERS = join(process.env['SALLYPORT_SHARED_DATA'] ?? join(REPOSITORY, '../shared/data'), 'whois')
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
  headings: 'Registrant:\n'.repeat(MEGABYTE / 12),
}

const ROUNDS = 5

/** How long the reading of a port-43 answer takes: every collected answer where they are here, and 1 MB of noise. */
export async function benchWhois(): Promise<void> {
  const files = existsSync(ANSWERS) ? readdirSync(ANSWERS).filter((name) => name.endsWith('.jsonl.gz')) : []
  const answers = files.flatMap((name) =>
    gunzipSync(readFileSync(join(ANSWERS, name)))
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line): string => JSON.parse(line).raw),
  )
  console.log('\nReading a port-43 answer, in milliseconds')
  console.table({
    ...(answers.length === 0 ? {} : { [`${answers.length} collected answers`]: timesOf(answers) }),
    ...Object.fromEntries(Object.entries(NOISE).map(([name, text]) => [`1 MB: ${name}`, timesOf([text])])),
  })
}

/** Each text at its best of some rounds, because other work on the machine only ever adds; then over all texts. */
function timesOf(texts: readonly string[]): { readonly median: number; readonly slowest: number } {
  const best = texts.map((text) => {
    const times = Array.from({ length: ROUNDS }, () => {
      const start = performance.now()
      parseWhoisText(text)
      return performance.now() - start
    })
    return Math.min(...times)
  })
  return { median: rounded(median(best)), slowest: rounded(Math.max(...best)) }
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toFixed(3))
}
