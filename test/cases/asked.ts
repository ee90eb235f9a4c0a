import { type Judge, type Outcome, short } from './case.ts'
import { requestBytes } from './product.ts'

/** A site that challenges everything sends the answer `right`: `page`, `form`, `json`, or the `origin` itself. */
interface AskedCase {
  readonly name: string
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly right: string
}

const CHALLENGED = { id: 'all', match: {}, action: 'challenge', challenge: { level: 2 } } as const

/** An array of requests that are challenged at level 2. */
export const challengedRequests: Judge = {
  takes: ({ name, text }) => name.endsWith('.json') && /^\s*\[/.test(text) && /"right":/.test(text),
  async judge(file, product) {
    const gate = await product.gate({ trustProxy: ['loopback'], policy: { preset: 'observe', rules: [CHALLENGED] } })
    const outcomes: Outcome[] = []
    for (const { name, method = 'GET', path = '/', headers, right } of JSON.parse(file.text) as readonly AskedCase[]) {
      const named = [
        ['x-forwarded-for', '73.162.10.20'],
        ['x-forwarded-proto', 'https'],
        ...Object.entries(headers),
      ] as const
      const { answer, target } = await gate.ask(requestBytes(method, path, named as never))
      const came = target === undefined ? readShown(answer) : 'origin'
      outcomes.push({ input: `${file.name}: ${short(name, 40)}`, expected: right, came, ok: came === right })
    }
    return outcomes
  },
}

function readShown(answer: string): string {
  if (answer.includes('data-back')) return 'form'
  if (answer.includes('data-challenge')) return 'page'
  return answer.includes('challenge_required') ? 'json' : short(answer)
}
