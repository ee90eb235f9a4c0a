import type { LocatedFault } from '#settings'
import type { ConfigFault } from './faults.ts'
import { findPlace, type Layer, valueAt } from './layers.ts'

/** Adds the place where its value is written to a fault. */
export function located({ path, message, rule }: LocatedFault, values: unknown, layers: readonly Layer[]): ConfigFault {
  const place = findPlace(layers, path)
  const id = rule ?? ruleAt(path, values)
  return {
    ...(place && { place }),
    ...(path.length > 0 && { key: path.map(String).join('.') }),
    ...(id !== undefined && { rule: id }),
    message,
  }
}

function ruleAt(path: readonly PropertyKey[], values: unknown): string | undefined {
  const at = path.findIndex((step, index) => step === 'rules' && typeof path[index + 1] === 'number')
  const id = at < 0 ? undefined : valueAt(values, [...path.slice(0, at + 2), 'id'])
  return typeof id === 'string' ? id : undefined
}
