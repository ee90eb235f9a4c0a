import { isRecord } from '@sallyport/core'

export type Mapping = Readonly<Record<string, unknown>>

/** Values that one place gives: a file, the environment, flags, or a program. */
export interface Layer {
  readonly values: Mapping
  /** Place of a value of it. */
  readonly placeOf: (path: readonly PropertyKey[]) => ValuePlace
}

/** Origin of a value. */
export interface ValuePlace {
  /** As people read it: `sallyport.yaml:12`, `SALLYPORT_MODE`, `--data-dir`. */
  readonly text: string
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly variable?: string | undefined
  readonly flag?: string | undefined
}

/** Maps are merged key by key; any other value of a later layer replaces the one below. */
export function mergeLayers(layers: readonly Layer[]): Mapping {
  return layers.reduce<Mapping>((merged, { values }) => merge(merged, values), {})
}

/** The place of a value, or of the nearest one that holds it; `undefined` where no layer has one. */
export function placeOf(layers: readonly Layer[], path: readonly PropertyKey[]): ValuePlace | undefined {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length)
    const layer = layers.findLast(({ values }) => valueAt(values, part) !== undefined)
    if (layer !== undefined) return layer.placeOf(part)
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
