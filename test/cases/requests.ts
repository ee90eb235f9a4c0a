import type { Decision } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import { parse } from 'yaml'
import { type CaseFile, type Judge, type Outcome, short } from './case.ts'
import { type Gate, type Product, requestBytes } from './product.ts'

/** A case of one request: its client, its fields, what is loaded or configured before, and what is expected. */
interface RequestCase {
  readonly client?: string | undefined
  readonly ip?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly scheme?: string | undefined
  readonly 'user-agent'?: string | undefined
  readonly headers?: readonly string[] | Texts | undefined
  /** Holds the fields, and the client under that name. */
  readonly request?: Texts | undefined
  readonly setup?: Readonly<Record<string, unknown>> | undefined
  /** Holds keys of a configuration, as in `clientHeader: forwarded, trustProxy: [loopback]`. */
  readonly config?: string | undefined
  /** The trusted proxy before us has this address. */
  readonly peer?: string | undefined
  /** Lists parts of the decision, or says it in words: `class unverified_bot (why)`. */
  readonly expected?: Texts | string | undefined
  /** An outcome that would be right too. */
  readonly or?: string | undefined
}

type Texts = Readonly<Record<string, string>>

/** Recorded requests say nothing of what is expected: they are of people's browsers. */
const PERSON: Texts = { class: 'human', action: 'allow in low-friction and protect-content' }

export const requestCases: Judge = {
  takes: ({ name, text }) => name.endsWith('.json') && /"(?:headers|request)":/.test(text),
  async judge(file, product) {
    const read = JSON.parse(file.text) as RequestCase
    const expected = readExpected(read)
    const presets = new Set(Object.entries(expected).flatMap((row) => listPresets(...row)))
    const decisions = new Map<string, Decision | undefined>()
    const config = await makeConfig(read, product)
    for (const preset of presets) {
      const gate = await createGate(product, { policy: { preset }, ...config } as ConfigInput)
      const asked = gate && (await gate.ask(requestBytes(read.method ?? 'GET', read.path ?? '/', listFields(read))))
      decisions.set(preset, asked?.decision)
    }
    const rows = Object.entries(expected).map(([key, value]) => makeRow(file, [key, value], decisions))
    if (read.or === undefined || rows.every(({ ok }) => ok)) return rows
    const other = await alternative(file, read.or, config, product)
    return other.ok ? [other] : rows
  },
}

function readExpected({ expected = PERSON }: RequestCase): Texts {
  if (typeof expected !== 'string') return expected
  const [, key = '', value = ''] = /^(\w+) (\S+)/.exec(expected) ?? []
  return { [key]: value }
}

/** Presets that an expectation is about. */
function listPresets(key: string, value: string): readonly string[] {
  const named = `${key} ${value}`.match(/\b(?:low-friction|protect-content|observe|strict)\b/g)
  return named ?? ['low-friction']
}

/** Reads each part of a decision under the word that the cases use. */
const SHOWN: Readonly<Record<string, (decision: Decision) => string | undefined>> = {
  class: ({ inspection }) => inspection.agent.class,
  action: ({ action }) => action,
  crawlerOutcome: ({ inspection }) => inspection.crawler?.outcome,
  client: ({ inspection }) => inspection.client.address,
  'network class': ({ inspection }) => inspection.network.verdict.classification,
}

function makeRow(
  file: CaseFile,
  [key, value]: readonly [string, string],
  decisions: ReadonlyMap<string, Decision | undefined>,
) {
  const show = SHOWN[key.replace(/ \(.*\)$/, '')]
  const [, not, word] = /^(not |anything but )?(\S+)/.exec(value) ?? []
  const came = listPresets(key, value).map((preset) => {
    const decision = decisions.get(preset)
    return decision === undefined ? 'not decided' : (show?.(decision) ?? 'nothing')
  })
  const ok = show !== undefined && came.every((one) => one !== 'not decided' && (one === word) === (not === undefined))
  return { input: file.name, expected: `${key}: ${value}`, came: [...new Set(came)].join(', '), ok }
}

async function makeConfig({ config, setup = {} }: RequestCase, product: Product): Promise<ConfigInput> {
  const sources: Record<string, { url: string }> = {}
  for (const key of Object.keys(setup)) {
    const id = /^data\.sources\.(.+)\.url$/.exec(key)?.[1]
    if (id !== undefined) sources[id] = { url: `file://${product.write(`${id}.json`, setup['list'])}` }
  }
  const given = (config === undefined ? {} : parse(`{ ${config} }`)) as ConfigInput
  // Whatever is in front, its requests come from here.
  const trustProxy = [...new Set(['loopback', ...(given.trustProxy ?? [])])]
  const whole = { ...given, trustProxy, data: { sources } } as ConfigInput
  const file = product.write('case.yaml', product.config(whole))
  for (const id of Object.keys(sources)) await product.run('data', 'update', '--source', id, '--config', file)
  return whole
}

/** `undefined` where the product does not start with this. */
async function createGate(product: Product, config: ConfigInput): Promise<Gate | undefined> {
  return product.gate(config).catch(() => undefined)
}

function listFields(read: RequestCase): readonly (readonly [string, string])[] {
  const { client: named, ...written } = read.request ?? {}
  const client = read.client ?? read.ip ?? named
  const agent = read['user-agent'] === undefined ? [] : [['User-Agent', read['user-agent']] as const]
  const listed = Array.isArray(read.headers) ? read.headers.map(splitPair) : Object.entries(read.headers ?? {})
  return [
    ...(client === undefined ? [] : ([['X-Forwarded-For', client]] as const)),
    ...(read.scheme === undefined ? [] : ([['X-Forwarded-Proto', read.scheme]] as const)),
    ...agent,
    ...(listed as readonly (readonly [string, string])[]),
    ...Object.entries(written),
  ].map(([name, value]) => [name, isForwarding(name) && read.peer ? `${value}, ${read.peer}` : value])
}

const isForwarding = (name: string): boolean => name.toLowerCase() === 'x-forwarded-for'

function splitPair(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

async function alternative(file: CaseFile, or: string, config: ConfigInput, product: Product): Promise<Outcome> {
  const { code, err } = await product.run('config', 'check', product.write('case.yaml', product.config(config)))
  const ok = or.includes('refusal in config check') && code !== 0
  return { input: file.name, expected: `or ${or}`, came: ok ? short(err) : `config check exits ${code}`, ok }
}
