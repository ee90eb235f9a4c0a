import { nearestWord } from '@sallyport/core'
import type { ConfigFault } from './faults.ts'
import { type Mapping, merge } from './layers.ts'
import type { Environment } from './secrets.ts'
import { type Leaf, listLeaves, type SchemaNode, schemaTree } from './tree.ts'

type Kind = 'text' | 'list' | 'json'

interface Variable extends Leaf {
  readonly name: string
  readonly kind: Kind
}

/** Variables that are no keys: of sources, and of the tests of this repository. */
const OWN = new Set(['SALLYPORT_MAXMIND_KEY', 'SALLYPORT_SHARED_DATA'])

/** Variables that orchestrators set for a service whose name begins with `sallyport`. */
const ORCHESTRATED = /_PORT$|_PORT_|_SERVICE_/

/** With at most this many wrong letters, a name counts as a typing error. */
const SLIP = 2

/** Reads the `SALLYPORT_…` variables: each key that holds a word, a number or a list of words has one. */
export function readEnvironment(env: Environment, tree: SchemaNode) {
  const variables = new Map(listVariables(tree).map((variable) => [variable.name, variable]))
  const errors: ConfigFault[] = []
  const warnings: ConfigFault[] = []
  let values: Mapping = {}
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('SALLYPORT_') || text === undefined || text === '') continue
    const variable = variables.get(name)
    if (variable === undefined) {
      if (OWN.has(name) || ORCHESTRATED.test(name)) continue
      const nearest = nearestWord(name, [...variables.keys()], SLIP)
      if (nearest === undefined) warnings.push({ message: `the variable ${name} is unknown and ignored` })
      else errors.push({ message: `the variable ${name} is unknown; did you mean ${nearest}?` })
      continue
    }
    const value = valueIn(text, variable.kind)
    if (value === undefined) {
      errors.push({ place: variablePlace(name), message: `"${text}" is not a number, true or false` })
      continue
    }
    const nested = variable.path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
    values = merge(values, nested as Mapping)
  }
  return {
    layer: { values, findPlace: (path: readonly PropertyKey[]) => variablePlace(variableName(path, variables)) },
    errors,
    warnings,
  }
}

function variablePlace(variable: string) {
  return { text: variable, variable }
}

/** Names the variable of a path; a path that leads into a list belongs to the list's variable. */
function variableName(path: readonly PropertyKey[], variables: ReadonlyMap<string, Variable>): string {
  for (let length = path.length; length > 0; length--) {
    const name = nameVariable(path.slice(0, length))
    if (variables.has(name)) return name
  }
  return nameVariable(path)
}

/** Lists a variable for every key that holds a word, a number or a list of words. */
export function listVariables(tree = schemaTree()): readonly Variable[] {
  return listLeaves(tree).flatMap(({ path, node }) => {
    const kind = schemaKind(node)
    return kind === undefined ? [] : [{ path, node, kind, name: nameVariable(path) }]
  })
}

/** Returns `SALLYPORT_DNS_TIMEOUT_MS` for `dns.timeoutMs`. */
function nameVariable(path: readonly PropertyKey[]): string {
  // A shell exports no name with a hyphen.
  const words = path.map((step) =>
    String(step)
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll('-', '_'),
  )
  return `SALLYPORT_${words.join('_').toUpperCase()}`
}

function schemaKind({ type, items, anyOf }: SchemaNode): Kind | undefined {
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

/** Splits a comma-separated list, as flags and variables write it. */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
