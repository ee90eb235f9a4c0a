import { type Judge, type Outcome, readRows, short } from './case.ts'
import { requestBytes } from './product.ts'

const CLASSES: Readonly<Record<string, string>> = { person: 'human', program: 'unverified_bot' }

/** The fields that every browser sends, whatever its age. */
const USUAL = [
  ['X-Forwarded-For', '73.162.10.20'],
  ['X-Forwarded-Proto', 'https'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-US,en;q=0.9'],
  ['Accept-Encoding', 'gzip, deflate, br'],
] as const

const kindRows = (text: string) => readRows(text).filter(([kind = '']) => !kind.startsWith('#'))

/** Lines `person <tab> user agent`: each is sent with a browser's usual fields. */
export const userAgentLines: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && kindRows(text).every(([kind = '']) => kind in CLASSES),
  async judge(file, product) {
    const gate = await product.gate({ trustProxy: ['loopback'] })
    const outcomes: Outcome[] = []
    for (const [kind = '', userAgent = ''] of kindRows(file.text)) {
      const { decision } = await gate.ask(requestBytes('GET', '/', [...USUAL, ['User-Agent', userAgent]]))
      const { class: came = 'not decided', confidence = 0 } = decision?.inspection.agent ?? {}
      const input = `${file.name}: ${short(userAgent, 40)}`
      const expected = `class ${CLASSES[kind]} (${kind})`
      outcomes.push({ input, expected, came: `${came} ${confidence}`, ok: came === CLASSES[kind] })
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
      const modes = `${to} ${file.expected}`.match(/(?<=\bpaths: )(?:strict|pass)\b/g) ?? ['strict']
      for (const paths of new Set(modes as readonly ('strict' | 'pass')[])) {
        const gate = await product.gate({ trustProxy: ['loopback'], paths })
        const came = await gate.ask(requestBytes('GET', target, [...USUAL, ['User-Agent', BROWSER]]))
        outcomes.push({
          input: short(`${file.name}: ${target}`),
          expected: `${to.slice(0, 3)}, same target (paths: ${paths})`,
          came: `${came.status}, ${came.target ?? 'nothing at the origin'}`,
          ok: String(came.status) === to.slice(0, 3) && came.target === target,
        })
      }
    }
    return outcomes
  },
}
