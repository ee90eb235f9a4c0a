import { type Judge, type Outcome, readRows, short } from './case.ts'
import { type Product, requestBytes } from './product.ts'

const CLASSES: Readonly<Record<string, string>> = { person: 'human', program: 'unverified_bot' }

/** The fields that every browser sends, whatever its age. */
const USUAL = [
  ['X-Forwarded-For', '73.162.10.20'],
  ['X-Forwarded-Proto', 'https'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-US,en;q=0.9'],
  ['Accept-Encoding', 'gzip, deflate, br'],
] as const

/** Omits rows that are comments. */
const kindRows = (text: string) => readRows(text).filter(([kind = '']) => !kind.startsWith('#'))

/** Lines `person <tab> user agent`: each is sent with a browser's usual fields. */
export const userAgentLines: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && kindRows(text).every(([kind = '']) => kind in CLASSES),
  async judge(file, product) {
    const gate = await product.gate({ trustProxy: ['loopback'] })
    const outcomes: Outcome[] = []
    for (const [kind = '', userAgent = ''] of kindRows(file.text)) {
      const { decision } = await gate.ask(requestBytes('GET', '/', [...USUAL, ['User-Agent', userAgent]]))
      const { class: came, confidence = 0 } = decision?.inspection.agent ?? {}
      const expected = CLASSES[kind] ?? ''
      outcomes.push({
        input: `${file.name}: ${short(userAgent, 40)}`,
        expected: `class ${expected} (${kind})`,
        came: `${came ?? 'not decided'} ${confidence}`,
        ok: came === expected,
      })
    }
    return outcomes
  },
}

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

/** Lines `target <tab> status, and that the origin sees the same`, in the modes of `paths` that the case names. */
export const pathLines: Judge = {
  takes: ({ name, text }) =>
    name.endsWith('.txt') && readRows(text).every(([target = '', to = '']) => /^\//.test(target) && /^\d{3}/.test(to)),
  async judge(file, product) {
    const outcomes: Outcome[] = []
    for (const [target = '', to = ''] of readRows(file.text)) {
      for (const paths of readModes(`${to} ${file.expected}`)) {
        outcomes.push(
          await forwardTargets(product, `${file.name}: ${target}`, { target, paths, status: Number(to.slice(0, 3)) }),
        )
      }
    }
    return outcomes
  },
}

function readModes(words: string): readonly ('strict' | 'pass')[] {
  const named = [...words.matchAll(/\bpaths: (strict|pass)\b/g)].map(([, mode]) => mode as 'strict' | 'pass')
  return named.length === 0 ? ['strict'] : [...new Set(named)]
}

/** The run of apt that met the fault: what it fetched then is asked for, and has to arrive. */
export const aptRun: Judge = {
  takes: ({ text }) => /^(?:Ign|Err|Get|Hit):\d+ https?:\/\/\S+ /m.test(text),
  async judge(file, product) {
    const fetched = file.text.matchAll(/^(?:Ign|Err|Get|Hit):\d+ https?:\/\/[^/\s]+(\S*) (\S+) (\S+)$/gm)
    const targets = new Set([...fetched].map(([, base, suite, name]) => `${base}/${suite}${name}`))
    const outcomes: Outcome[] = []
    for (const target of targets) {
      outcomes.push(await forwardTargets(product, `${file.name}: ${target}`, { target, paths: 'strict', status: 200 }))
    }
    return outcomes
  },
}

async function forwardTargets(
  product: Product,
  input: string,
  { target, paths, status }: { readonly target: string; readonly paths: 'strict' | 'pass'; readonly status: number },
): Promise<Outcome> {
  const gate = await product.gate({ trustProxy: ['loopback'], paths })
  const came = await gate.ask(requestBytes('GET', target, [...USUAL, ['User-Agent', BROWSER]]))
  return {
    input: short(input),
    expected: `${status}, same target (paths: ${paths})`,
    came: `${came.status}, ${came.target === target ? 'same target' : (came.target ?? 'nothing at the origin')}`,
    ok: came.status === status && came.target === target,
  }
}
