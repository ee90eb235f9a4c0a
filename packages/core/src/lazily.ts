/** Makes a value at its first use: the tables of Intl take megabytes, and most processes never need them. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
