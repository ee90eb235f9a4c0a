import { type SchemaNode, schemaTree } from './tree.ts'

/** Row of a key with a value in the documents. */
export interface KeyRow {
  /** As in a file: `routes[].host`, `data.sources.<id>.url`. */
  readonly key: string
  /** Kinds, words or bounds, and the unit of a number. */
  readonly values: string
  /** As it is written, or in words; absent where nobody has said it. */
  readonly initial: string | undefined
  readonly example: unknown
  /** Whether a reload takes it over; else it is in force after a restart. */
  readonly live: boolean
  readonly description: string
}

/** Policies of routes have the keys of the policy. */
const SAME_AS_POLICY = 'routes[].policy'
/** A negation has the words of `match`, which have rows already. */
const SAME_AS_MATCH = 'policy.rules[].match.not'

/** Every key of the configuration that holds a value, in the order of the schema. */
export function keyTable(): readonly KeyRow[] {
  return rowsIn(schemaTree(), '', false)
}

function rowsIn(node: SchemaNode, path: string, live: boolean): readonly KeyRow[] {
  const { properties = {}, required = [] } = node
  return Object.entries(properties).flatMap(([name, inner]) => {
    const key = path === '' ? name : `${path}.${name}`
    return key === SAME_AS_POLICY
      ? []
      : listKeyRows(inner, { key, live: inner.live ?? live, required: required.includes(name) })
  })
}

interface KeyPosition {
  readonly key: string
  readonly live: boolean
  readonly required: boolean
}

function listKeyRows(node: SchemaNode, { key, live, required }: KeyPosition): readonly KeyRow[] {
  if (node.properties !== undefined && key !== SAME_AS_MATCH) return rowsIn(node, key, live)
  if (node.items?.properties !== undefined) return rowsIn(node.items, `${key}[]`, live)
  const { additionalProperties: further } = node
  if (typeof further === 'object') {
    const maps = [further, ...(further.anyOf ?? [])].flatMap(({ properties = {} }) => Object.entries(properties))
    if (maps.length > 0) return rowsIn({ properties: Object.fromEntries(maps) }, `${key}.<id>`, live)
  }
  const { example, description = '', unit } = node
  const [said, absent] = apart(description)
  const kinds = valuesOf(node)
  const values = unit === undefined || unit === 'time' ? kinds : `${kinds} (${unit})`
  const initial = node.default === undefined ? (absent ?? (required ? 'required' : undefined)) : json(node.default)
  return [{ key, values, initial, example, live, description: said }]
}

/** The description, and what it says of a key that is absent. */
function apart(description: string): readonly [said: string, absent: string | undefined] {
  const [found, absent] = /(?:^|; )absent: (.*?)(?=[;.] |$)/.exec(description) ?? []
  return found === undefined ? [description, undefined] : [description.replace(found, ''), absent]
}

function valuesOf({
  type,
  unit,
  least,
  most,
  minimum,
  maximum,
  items,
  anyOf,
  additionalProperties,
  ...node
}: SchemaNode): string {
  if (unit === 'time') return least === undefined ? 'time' : `time, ${least} to ${most}`
  if (node.enum !== undefined) return node.enum.map(json).join(', ')
  if (node.const !== undefined) return json(node.const)
  if (anyOf !== undefined) return anyOf.map((one) => valuesOf(one)).join(', or ')
  if (typeof type === 'object') return type.map((one) => valuesOf({ type: one })).join(', or ')
  if (type === 'array') return `list: ${items === undefined ? 'anything' : valuesOf(items)}`
  if (type === 'object') return typeof additionalProperties === 'object' ? 'map' : 'map of these keys'
  if (type === 'boolean') return 'true or false'
  if (type === 'string') return 'text'
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER)
  return bounds.length === 2 ? `${minimum} to ${maximum}` : 'number'
}

function json(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
