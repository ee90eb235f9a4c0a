import { nearestWord } from '@sallyport/core'
import type { ConfigFault } from './faults.ts'
import { type Layer, type Mapping, merge } from './layers.ts'
import type { Environment } from './secrets.ts'
import { type Leaf, leavesOf, type SchemaNode, schemaTree } from './tree.ts'

/** How a variable is read: as it is, split at commas, or as JSON. */
type Kind = 'text' | 'list' | 'json'

interface Variable extends Leaf {
  readonly name: string
  readonly kind: Kind
}

/** The environment's layer, and faults in its names. */
export interface EnvironmentRead {
  readonly layer: Layer
  readonly errors: readonly ConfigFault[]
  readonly warnings: readonly ConfigFault[]
}

/** Variables that are read and are no keys of the configuration. */
const FURTHER_VARIABLES = {
  SALLYPORT_MAXMIND_KEY: {
    example: 'accountId:licenceKey',
    description: "MaxMind's key, for each of its sources without a `key`; absent: none",
  },
  HTTPS_PROXY: {
    example: 'http://user:password@proxy.internal:3128',
    description: 'Proxy for feeds, lists, CrowdSec, webhooks, `challenge.provider` and `tls.acme`; absent: `ALL_PROXY`',
  },
  ALL_PROXY: {
    example: 'http://proxy.internal:3128',
    description: 'Proxy for feeds, lists, CrowdSec, webhooks and `challenge.provider`; absent: none',
  },
  NO_PROXY: { example: 'lists.internal,.corp', description: 'Hosts that are reached without that proxy; absent: none' },
  NODE_ENV: {
    example: 'production',
    description: 'Environment; `production` refuses the `explain` option of a mount; absent: it is allowed',
  },
  NODE_TLS_REJECT_UNAUTHORIZED: {
    example: '1',
    description: 'Check of certificates; `0` switches it off, and no data is downloaded; absent: 1',
  },
} as const

/** Variables that are no keys: of the table above, and of the tests of this repository. */
const OWN = new Set(['SALLYPORT_MAXMIND_KEY', 'SALLYPORT_SHARED_DATA'])

/** Variables that orchestrators set for a service whose name begins with `sallyport`. */
const ORCHESTRATED = /_PORT$|_PORT_|_SERVICE_/

/** As many wrong letters as are taken for a slip. */
const SLIP = 2

/** Reads the `SALLYPORT_…` variables: there is one for every key that holds a word, a number or a list of words. */
export function readEnvironment(env: Environment, tree: SchemaNode): EnvironmentRead {
  const variables = new Map(variablesOf(tree).map((variable) => [variable.name, variable]))
  const errors: ConfigFault[] = []
  const warnings: ConfigFault[] = []
  let values: Mapping = {}
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('SALLYPORT_') || text === undefined || text === '') continue
    const variable = variables.get(name)
    if (variable === undefined) {
      if (OWN.has(name) || ORCHESTRATED.test(name)) continue
      const nearest = nearestWord(name, [...variables.keys()], SLIP)
      if (nearest === undefined) warnings.push({ message: `there is no variable ${name}; it is ignored` })
      else errors.push({ message: `there is no variable ${name}; did you mean ${nearest}?` })
      continue
    }
    const value = valueIn(text, variable.kind)
    if (value === undefined) {
      errors.push({ place: placeOf(name), message: `"${text}" is not a number, true or false` })
      continue
    }
    const nested = variable.path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
    values = merge(values, nested as Mapping)
  }
  return { layer: { values, placeOf: (path) => placeOf(nameOf(path, variables)) }, errors, warnings }
}

function placeOf(variable: string) {
  return { text: variable, variable }
}

/** A path that leads into a list is that of the list's variable. */
function nameOf(path: readonly PropertyKey[], variables: ReadonlyMap<string, Variable>): string {
  for (let length = path.length; length > 0; length--) {
    const name = variableOf(path.slice(0, length))
    if (variables.has(name)) return name
  }
  return variableOf(path)
}

/** A variable for every key that holds a word, a number or a list of words. */
function variablesOf(tree: SchemaNode): readonly Variable[] {
  return leavesOf(tree).flatMap(({ path, node }) => {
    const kind = kindOf(node)
    return kind === undefined ? [] : [{ path, node, kind, name: variableOf(path) }]
  })
}

/** `SALLYPORT_DNS_TIMEOUT_MS` of `dns.timeoutMs`. */
function variableOf(path: readonly PropertyKey[]): string {
  // A shell exports no name with a hyphen.
  const words = path.map((step) =>
    String(step)
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll('-', '_'),
  )
  return `SALLYPORT_${words.join('_').toUpperCase()}`
}

function kindOf({ type, items, anyOf }: SchemaNode): Kind | undefined {
  if (type === 'array') return items?.type === 'string' ? 'list' : undefined
  if ([type].flat().includes('string') || anyOf?.some((node) => node.type === 'string')) return 'text'
  if (anyOf?.some((node) => node.type === 'object')) return undefined
  return type === 'object' || (type === undefined && anyOf === undefined) ? undefined : 'json'
}

function valueIn(text: string, kind: Kind): unknown {
  if (kind === 'text') return text
  if (kind === 'list') return splitList(text)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A comma-separated list, as a flag or a variable gives it. */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** A variable's row in the documents. */
export interface VariableRow {
  readonly name: string
  /** Key of the configuration; absent for a variable without one. */
  readonly key?: string | undefined
  readonly example: string
  readonly description: string
}

/** An example as a variable holds it: of a map, which only a file can give, one of its texts. */
function exampleText(example: unknown): string {
  if (Array.isArray(example)) return example.join(',')
  return String(typeof example === 'object' && example !== null ? Object.values(example)[0] : example)
}

/** Every variable that is read: one for each key that holds a word, a number or a list of words, and a few more. */
export function variableTable(): readonly VariableRow[] {
  const ofKeys = variablesOf(schemaTree()).map(({ name, path, node: { example, description = '' } }) => ({
    name,
    key: path.join('.'),
    description,
    example: exampleText(example),
  }))
  const further = Object.entries(FURTHER_VARIABLES).map(([name, row]) => ({ name, ...row }))
  return [...ofKeys, ...further]
}
