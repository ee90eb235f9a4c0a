import type { CaseFile, Judge, Outcome } from './case.ts'
import { short } from './case.ts'
import type { Product } from './product.ts'

/** `replay --json` writes this object. */
interface Replayed {
  readonly requests: number
  readonly unread: number
  readonly classes: readonly {
    readonly class: string
    readonly requests: number
    readonly after: Readonly<Record<string, number>>
  }[]
}

/** A log, with what `replay` says of it under each policy that is named: `--policy FILE: 12 of class unverified_bot, 12 flagged.` */
export const replayedLog: Judge = {
  takes: ({ name, expected }) => name.endsWith('.log') && expected.includes('--policy '),
  async judge(file, product) {
    const outcomes: Outcome[] = []
    for (const [, policy = '', words = ''] of file.expected.matchAll(/--policy (\S+): ([^.]*)/g)) {
      const replayed = await replay(product, file, file.beside(policy)?.path ?? policy)
      for (const claim of words.split(',')) outcomes.push(makeRow(file, policy, claim.trim(), replayed))
    }
    return outcomes
  },
}

const ACTIONS: Readonly<Record<string, string>> = {
  allowed: 'allow',
  flagged: 'flag',
  throttled: 'throttle',
  blocked: 'block',
}

function makeRow(file: CaseFile, policy: string, words: string, replayed: Replayed | string): Outcome {
  const [, count, ofClass, done = ''] = /^(\d+) (?:of class (\w+)|(\w+))/.exec(words) ?? []
  const row = { input: `${file.name} ${policy}`, expected: words.replace(/ *\(.*$/, '') }
  if (typeof replayed === 'string') return { ...row, came: replayed, ok: false }
  const { classes, requests, unread } = replayed
  const found =
    ofClass === undefined
      ? classes.reduce((sum, { after }) => sum + (after[ACTIONS[done] ?? ''] ?? Number.NaN), 0)
      : (classes.find((one) => one.class === ofClass)?.requests ?? 0)
  const came = `${found} of ${requests} (${classes.map((one) => `${one.requests} ${one.class}`).join(', ')}; ${unread} unread)`
  return { ...row, came, ok: found === Number(count) }
}

/** A log and the same traffic in combined format: both say the same. */
export const logInTwoFormats: Judge = {
  takes: (file) => findCombined(file) !== undefined,
  async judge(file, product) {
    const combined = findCombined(file) as CaseFile
    const policy = product.write('observe.yaml', 'preset: observe\n')
    const [one, other] = [await replay(product, file, policy), await replay(product, combined, policy)]
    const [came, expected] = [writeSaid(one), writeSaid(other)]
    return [
      {
        input: file.name,
        expected: `as combined: ${expected}`,
        came,
        ok: came === expected && typeof one !== 'string',
      },
    ]
  },
}

/** The counterpart of another log, which is judged with it. */
export const combinedLog: Judge = {
  takes: ({ name }) => name.endsWith('-as-combined.log'),
  judge: async () => [],
}

function findCombined({ name, beside }: CaseFile): CaseFile | undefined {
  const base = name.split('/').at(-1) ?? ''
  return base.endsWith('.log') ? beside(base.replace(/\.log$/, '-as-combined.log')) : undefined
}

function writeSaid(replayed: Replayed | string): string {
  if (typeof replayed === 'string') return replayed
  const { classes, unread } = replayed
  const counts = classes.map((one) => `${one.requests} ${one.class}`).sort()
  return `${counts.join(', ')}; ${unread} unread`
}

async function replay(product: Product, { path }: CaseFile, policy: string): Promise<Replayed | string> {
  const config = product.write('replay.yaml', product.config({}))
  const { code, out, err } = await product.run('replay', path, '--policy', policy, '--json', '--config', config)
  return code === 0 ? (JSON.parse(out) as Replayed) : `exit ${code}: ${short(err)}`
}
