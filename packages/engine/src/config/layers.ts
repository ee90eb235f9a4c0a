import { isRecord } from '@sallyport/core'

export type Mapping = Readonly<Record<string, unknown>>

/** Values that one place gives: a file, the environment, flags, or a program. */
export interface Layer {
  readonly values: Mapping
  /** Returns the place of a value in this layer. */
  readonly findPlace: (path: readonly PropertyKey[]) => ValuePlace
}

/** Says where a value was written. */
export interface ValuePlace {
  /** Written as operators read it: `sallyport.yaml:12`, `SALLYPORT_MODE`, `--data-dir`. */
  readonly text: string
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly variable?: string | undefined
  readonly flag?: string | undefined
}

/** Returns the layer of a policy in a text: its `policy` where it is a configuration, else all of it. */
export function narrowToPolicy(layer: Layer): Layer {
  const values = layer.values['policy']
  return isRecord(values) ? { values, findPlace: (path) => layer.findPlace(['policy', ...path]) } : layer
}

/** Merges maps key by key; any other value of a later layer replaces the value below. */
export function mergeLayers(layers: readonly Layer[]): Mapping {
  return layers.reduce<Mapping>((merged, { values }) => merge(merged, values), {})
}

/** Returns the place of a value, or of the nearest value that contains it; `undefined` if no layer has either. */
export function findPlace(layers: readonly Layer[], path: readonly PropertyKey[]): ValuePlace | undefined {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length)
    const layer = layers.findLast(({ values }) => valueAt(values, part) !== undefined)
    if (layer !== undefined) return layer.findPlace(part)
  }
  return undefined
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (typeof inner !== 'object' || inner === null) return undefined
    return Object.hasOwn(inner, step) ? Reflect.get(inner, step) : undefined
  }, value)
}

export function merge(under: Mapping, over: Mapping): Mapping {
  const merged: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue
    const below = merged[key]
    merged[key] = isRecord(below) && isRecord(value) ? merge(below, value) : value
  }
  return merged
}
