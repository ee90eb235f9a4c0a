import { type SchemaNode, schemaTree } from '@sallyport/engine'

export interface KeyRow {
  /** Written as in a file: `routes[].host`, `data.sources.<id>.url`. */
  readonly key: string
  /** Lists kinds, words or bounds; a number has its unit. */
  readonly values: string
  /** Written as in a file, or in words; absent if the description states no default. */
  readonly initial: string | undefined
  readonly example: unknown
  /** Whether a reload takes the key over; otherwise it applies after a restart. */
  readonly live: boolean
  readonly description: string
}

/** Policies of routes have the same keys as the policy. */
const SAME_AS_POLICY = 'routes[].policy'
/** A negation has the words of `match`, which have rows already. */
const SAME_AS_MATCH = 'policy.rules[].match.not'

/** Lists every key of the configuration that holds a value, in the order of the schema. */
export function keyTable(): readonly KeyRow[] {
  return rowsIn(schemaTree(), '', false)
}

function rowsIn(node: SchemaNode, path: string, live: boolean): readonly KeyRow[] {
  const { properties = {}, required = [] } = node
  return Object.entries(properties).flatMap(([name, inner]) => {
    const key = path === '' ? name : `${path}.${name}`
    return key === SAME_AS_POLICY ? [] : listKeyRows(inner, key, inner.live ?? live, required.includes(name))
  })
}

function listKeyRows(node: SchemaNode, key: string, live: boolean, required: boolean): readonly KeyRow[] {
  if (node.properties !== undefined && key !== SAME_AS_MATCH) return rowsIn(node, key, live)
  if (node.items?.properties !== undefined) return rowsIn(node.items, `${key}[]`, live)
  const { additionalProperties: further } = node
  if (typeof further === 'object') {
    const maps = [further, ...(further.anyOf ?? [])].flatMap(({ properties = {} }) => Object.entries(properties))
    if (maps.length > 0) return rowsIn({ properties: Object.fromEntries(maps) }, `${key}.<id>`, live)
  }
  const { example, description = '', unit } = node
  const [said, absent] = apart(description)
  const kinds = describeValues(node)
  const values = unit === undefined || unit === 'time' ? kinds : `${kinds} (${unit})`
  const initial = node.default === undefined ? (absent ?? (required ? 'required' : undefined)) : json(node.default)
  return [{ key, values, initial, example, live, description: said }]
}

/** Splits a description into its text and what it says of an absent key. */
function apart(description: string): readonly [said: string, absent: string | undefined] {
  const [found, absent] = /(?:^|; )absent: (.*?)(?=[;.] |$)/.exec(description) ?? []
  return found === undefined ? [description, undefined] : [description.replace(found, ''), absent]
}

function describeValues({ type, unit, least, most, minimum, maximum, items, anyOf, ...node }: SchemaNode): string {
  if (unit === 'time') return least === undefined ? 'time' : `time, ${least} to ${most}`
  if (node.enum !== undefined) return node.enum.map(json).join(', ')
  if (node.const !== undefined) return json(node.const)
  if (anyOf !== undefined) {
    const forms = anyOf.map((one) => describeValues(one))
    return forms.map((form) => (form === `list: ${forms[0]}` ? 'a list of them' : form)).join(', or ')
  }
  if (typeof type === 'object') return type.map((one) => describeValues({ type: one })).join(', or ')
  if (type === 'array') return `list: ${items === undefined ? 'anything' : describeValues(items)}`
  if (type === 'object') return 'map'
  if (type === 'boolean') return 'true or false'
  if (type === 'string') return 'text'
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER)
  return bounds.length === 2 ? `${minimum} to ${maximum}` : 'number'
}

function json(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
