import { nearestWord } from '@sallyport/core'
import type { ConfigFault } from './faults.ts'
import { type Layer, type Mapping, merge } from './layers.ts'
import type { Environment } from './secrets.ts'
import { type Leaf, leavesOf, type SchemaNode } from './tree.ts'

/** How a variable is read: as it is, split at commas, or as JSON. */
type Kind = 'text' | 'list' | 'json'

interface Variable extends Leaf {
  readonly name: string
  readonly kind: Kind
}

/** What the environment says, and what is wrong with its names. */
export interface EnvironmentRead {
  readonly layer: Layer
  readonly errors: readonly ConfigFault[]
  readonly warnings: readonly ConfigFault[]
}

/** Variables that are no keys: of feeds, and of the tests of this repository. */
const OWN = /^SALLYPORT_(MAXMIND_KEY|SHARED_DATA|KILLS|HOSTILE|FLIP_EVERY|FAULT_[A-Z_]+)$/

/** What orchestrators set for a service that is named `sallyport`, or begins so. */
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
      if (OWN.test(name) || ORCHESTRATED.test(name)) continue
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

function variablesOf(tree: SchemaNode): readonly Variable[] {
  return leavesOf(tree).flatMap(({ path, node }) => {
    const kind = kindOf(node)
    return kind === undefined ? [] : [{ path, node, kind, name: variableOf(path) }]
  })
}

/** `SALLYPORT_DNS_TIMEOUT_MS` of `dns.timeoutMs`. */
function variableOf(path: readonly PropertyKey[]): string {
  const words = path.map((step) => String(step).replace(/([a-z0-9])([A-Z])/g, '$1_$2'))
  return `SALLYPORT_${words.join('_').toUpperCase()}`
}

function kindOf({ type, items, anyOf }: SchemaNode): Kind | undefined {
  if (type === 'array') return items?.type === 'string' ? 'list' : undefined
  if (type === 'string' || anyOf?.some((node) => node.type === 'string')) return 'text'
  return type === 'object' || type === undefined ? undefined : 'json'
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
