/** The requests that a value of a word takes in, prepared once to be held against those of another value of that word (D420). */
export interface Extent {
  /**
   * Whether every one of them is one of the other's; false where the values do not tell. `exact`: for two rules that allow,
   * to which all readings and repeated values have to agree.
   */
  within(outer: Extent, exact: boolean): boolean
  /** Whether none of them is; false where the values do not tell. */
  apart(other: Extent): boolean
  readonly prepared: unknown
}

/** How extents of one word are made and compared. */
export interface Comparison<Value, Prepared> {
  prepare(value: Value): Prepared
  within(inner: Prepared, outer: Prepared, exact: boolean): boolean
  apart?(one: Prepared, other: Prepared): boolean
}

/** Makes the extents of a word; the other one is always of the same word. */
export function extents<Value, Prepared>({
  prepare,
  within,
  apart = () => false,
}: Comparison<Value, Prepared>): (value: Value) => Extent {
  return (value) => {
    const prepared = prepare(value)
    return {
      prepared,
      within: (outer, exact) => within(prepared, outer.prepared as Prepared, exact),
      apart: (other) => apart(prepared, other.prepared as Prepared),
    }
  }
}

/** Values that are the same or have nothing to do with each other; `any` of them is every one. */
export function ofNames(
  fold: (name: string) => string = String,
  any?: string,
): (names: readonly (string | number)[]) => Extent {
  return extents<readonly (string | number)[], ReadonlySet<string>>({
    prepare: (names) => new Set(names.map((name) => fold(String(name)))),
    within: (inner, outer) => (any !== undefined && outer.has(any)) || isSubset(inner, outer),
    apart: (one, other) => !isOpen(one, any) && !isOpen(other, any) && ![...one].some((name) => other.has(name)),
  })
}

/** Whether other values than those may be meant: the content of a list is not written here. */
function isOpen(names: ReadonlySet<string>, any: string | undefined): boolean {
  return [...names].some((name) => name === any || name.startsWith('list:'))
}

export function isSubset(inner: ReadonlySet<string>, outer: ReadonlySet<string>): boolean {
  if (inner.size > outer.size) return false
  for (const name of inner) if (!outer.has(name)) return false
  return true
}

export const OF_BOUNDS = extents<
  { readonly atLeast?: number | undefined; readonly atMost?: number | undefined },
  { readonly least: number; readonly most: number }
>({
  prepare: ({ atLeast = 0, atMost = Number.POSITIVE_INFINITY }) => ({ least: atLeast, most: atMost }),
  within: (inner, outer) => outer.least <= inner.least && inner.most <= outer.most,
  apart: (one, other) => one.most < other.least || other.most < one.least,
})

export const OF_FLAGS = extents<boolean, boolean>({
  prepare: (value) => value,
  within: (inner, outer) => inner === outer,
  apart: (one, other) => one !== other,
})

/** Values that are the same, or of which nothing can be said. */
export const OF_EQUALS = extents<unknown, string>({
  prepare: (value) => JSON.stringify(value),
  within: (inner, outer) => inner === outer,
})

/** Values that never tell anything of each other. */
export const OF_NOTHING = extents<unknown, undefined>({ prepare: () => undefined, within: () => false })
