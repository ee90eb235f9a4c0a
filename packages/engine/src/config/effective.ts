import { formatDuration, isRecord } from '@sallyport/core'
import { findPlace, type ValuePlace, valueAt } from './layers.ts'
import type { ConfigRead } from './read.ts'
import { nodeAt, type SchemaNode, schemaTree } from './tree.ts'

/** A value that is in force, and where it comes from. */
export interface Setting {
  readonly key: string
  /** Times with their unit; a secret as `***`. */
  readonly value: unknown
  /** Absent: it is a default. */
  readonly place?: ValuePlace | undefined
}

/** Every value of a configuration, defaults too; a list of maps has a setting for each entry. */
export function listSettings({ config, layers }: ConfigRead): readonly Setting[] {
  const tree = schemaTree()
  const settings: Setting[] = []
  const walk = (value: unknown, path: readonly PropertyKey[]): void => {
    const inner = listParts(value, path)
    for (const [step, part] of inner) walk(part, [...path, step])
    if (value === undefined || inner.length > 0) return
    const written = layers.some(({ values }) => valueAt(values, path) !== undefined)
    const place = written ? findPlace(layers, path) : undefined
    settings.push({ key: path.map(String).join('.'), value: shown(value, nodeAt(tree, path)), ...(place && { place }) })
  }
  walk(config, [])
  return settings
}

/** The values within a value that are settings of their own; an entry of a list is one setting. */
function listParts(value: unknown, path: readonly PropertyKey[]): readonly (readonly [PropertyKey, unknown])[] {
  if (Array.isArray(value)) return value.some(isRecord) ? [...value.entries()] : []
  return isRecord(value) && typeof path.at(-1) !== 'number' ? Object.entries(value) : []
}

function shown(value: unknown, node: SchemaNode | undefined): unknown {
  if (node?.secret === true || node?.items?.secret === true) return '***'
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner, node?.properties?.[key])]))
  }
  return node?.unit === 'time' && typeof value === 'number' ? formatDuration(value) : value
}
