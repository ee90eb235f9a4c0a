import { isRecord } from '@sallyport/core'
import { z } from 'zod'
import { Config } from './schema.ts'

/** A node of the JSON schema, with the members that are read here. */
export interface SchemaNode {
  /** A list if a key takes values of several plain kinds. */
  readonly type?: string | readonly string[] | undefined
  readonly description?: string | undefined
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined
  readonly additionalProperties?: SchemaNode | boolean | undefined
  readonly items?: SchemaNode | undefined
  readonly anyOf?: readonly SchemaNode[] | undefined
  readonly enum?: readonly unknown[] | undefined
  /** Marks a key that is never shown: see `SECRET` in key.ts. */
  readonly secret?: true | undefined
  /** Marks a key that names a file, which is read with the configuration. */
  readonly file?: true | undefined
  /** Whether a reload takes the key over; absent: as for the map that contains it, and not at the top. */
  readonly live?: boolean | undefined
  readonly unit?: string | undefined
  readonly example?: unknown
  readonly default?: unknown
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  /** The bounds of a length of time, as users write them: see limits.ts. */
  readonly least?: string | undefined
  readonly most?: string | undefined
  readonly required?: readonly string[] | undefined
  readonly const?: unknown
}

/** Returns the keys of the configuration, or of another schema, as users write them, with their notes. */
export function schemaTree(schema: z.ZodType = Config): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input', reused: 'inline' }) as SchemaNode
}

/** Returns the node of a key; `undefined` if there is no such key. */
export function nodeAt(tree: SchemaNode, path: readonly PropertyKey[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>((node, step) => node && within(node, step), tree)
}

/** Returns the node of a map's key or of a list's entry. Of several kinds of maps, the first that has the key counts. */
export function within(
  { properties, additionalProperties, items, anyOf = [] }: SchemaNode,
  step: PropertyKey,
): SchemaNode | undefined {
  if (typeof step === 'number') return items
  const further = typeof additionalProperties === 'object' ? additionalProperties : undefined
  return (
    properties?.[String(step)] ??
    further ??
    anyOf.find((one) => one.properties?.[String(step)])?.properties?.[String(step)]
  )
}

/** Maps each text of a value by the node of its key, whose `live` is that of the map around it where it has none; all else stays. */
export function mapTexts(
  value: unknown,
  node: SchemaNode | undefined,
  map: (text: string, node: SchemaNode, path: readonly PropertyKey[]) => unknown,
  path: readonly PropertyKey[] = [],
): unknown {
  if (node === undefined) return value
  if (typeof value === 'string') return map(value, node, path)
  const mapInner = (inner: unknown, step: PropertyKey) => {
    const found = within(node, step)
    return mapTexts(inner, found && { ...found, live: found.live ?? node.live }, map, [...path, step])
  }
  if (Array.isArray(value)) return value.map(mapInner)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapInner(inner, key)]))
}

/** A key that does not hold a map. */
export interface Leaf {
  readonly path: readonly string[]
  readonly node: SchemaNode
}

/** Lists every key that has a name of its own. */
export function listLeaves(node: SchemaNode, path: readonly string[] = []): readonly Leaf[] {
  if (node.properties === undefined) return typeof node.additionalProperties === 'object' ? [] : [{ path, node }]
  return Object.entries(node.properties).flatMap(([key, inner]) => listLeaves(inner, [...path, key]))
}
