import type { Decision } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import { parse } from 'yaml'
import { type Judge, type Outcome, short } from './case.ts'
import { requestBytes } from './product.ts'

type Texts = Readonly<Record<string, string>>

/** A case of one request: its client, its fields, what is configured before, and what is expected. */
type Member = 'client' | 'ip' | 'method' | 'path' | 'scheme' | 'user-agent' | 'peer' | 'config' | 'or'
interface RequestCase extends Readonly<Partial<Record<Member, string>>> {
  readonly headers?: readonly string[] | Texts | undefined
  /** Holds the fields, and the client under that name. */
  readonly request?: Texts | undefined
  /** Lists parts of the decision, or says it in words: `class unverified_bot (why)`. */
  readonly expected?: Texts | string | undefined
}

/** Recorded requests say nothing of what is expected: they are of people's browsers. */
const PERSON: Texts = { class: 'human', action: 'allow in low-friction and protect-content' }

/** Reads each part of a decision under the word that the cases use. */
const SHOWN: Readonly<Record<string, (decision: Decision) => string | undefined>> = {
  class: ({ inspection }) => inspection.agent.class,
  action: ({ action }) => action,
  crawlerOutcome: ({ inspection }) => inspection.crawler?.outcome,
  client: ({ inspection }) => inspection.client.address,
  'network class': ({ inspection }) => inspection.network.verdict.classification,
}

const PRESETS = /\b(?:low-friction|protect-content|observe|strict)\b/g

export const requestCases: Judge = {
  takes: ({ name, text }) => name.endsWith('.json') && /^\{(?!.*"setup")(?=.*"(?:headers|request)": *[[{])/s.test(text),
  async judge({ name: input, text }, product) {
    const read = JSON.parse(text) as RequestCase
    const config = makeConfig(read)
    const bytes = requestBytes(read.method ?? 'GET', read.path ?? '/', listFields(read))
    const rows: Outcome[] = []
    try {
      for (const [key, value] of Object.entries(readExpected(read))) {
        const [, not, word] = /^(not |anything but )?(\S+)/.exec(value) ?? []
        const show = SHOWN[key.replace(/ \(.*\)$/, '')]
        const found = new Set<string>()
        for (const preset of `${key} ${value}`.match(PRESETS) ?? ['low-friction']) {
          const gate = await product.gate({ policy: { preset }, ...config } as ConfigInput)
          const { decision } = await gate.ask(bytes)
          found.add(decision === undefined ? 'not decided' : (show?.(decision) ?? 'nothing'))
        }
        const came = [...found].join(', ')
        const isOther = !found.has(word ?? '') && !found.has('not decided')
        const ok = show !== undefined && (not === undefined ? came === word : isOther)
        rows.push({ input, expected: `${key}: ${value}`, came, ok })
      }
      return rows
    } catch (error) {
      const ok = read.or?.includes('refusal in config check') ?? false
      return [{ input, expected: `or ${read.or}`, came: short(String(error)), ok }]
    }
  },
}

function readExpected({ expected = PERSON }: RequestCase): Texts {
  if (typeof expected !== 'string') return expected
  const [, key = '', value = ''] = /^(\w+) (\S+)/.exec(expected) ?? []
  return { [key]: value }
}

function makeConfig({ config = '' }: RequestCase): ConfigInput {
  const given = parse(`{ ${config} }`) as ConfigInput
  // Whatever is in front, its requests come from here.
  return { ...given, trustProxy: [...new Set(['loopback', ...(given.trustProxy ?? [])])] }
}

function listFields(read: RequestCase): readonly (readonly [string, string])[] {
  const { client: named, ...written } = read.request ?? {}
  const listed = Array.isArray(read.headers) ? read.headers.map(splitPair) : Object.entries(read.headers ?? {})
  const fields: readonly (readonly [string, string | undefined])[] = [
    ['X-Forwarded-For', read.client ?? read.ip ?? named],
    ['X-Forwarded-Proto', read.scheme],
    ['User-Agent', read['user-agent']],
    ...(listed as readonly (readonly [string, string])[]),
    ...Object.entries(written),
  ]
  const isForwarding = (name: string) => name.toLowerCase() === 'x-forwarded-for'
  return fields.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, isForwarding(name) && read.peer ? `${value}, ${read.peer}` : value]],
  )
}

function splitPair(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
