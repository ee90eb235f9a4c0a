/** A key that a reload finds changed, with what has become of it; no value is shown, because it may be a secret. */
export function changeText(key: string, before: unknown, after: unknown): string {
  const [one, other] = [valueAt(before, key), valueAt(after, key)]
  if (other === undefined) return `${key} (removed)`
  if (one === undefined) return `${key} (added)`
  if (!Array.isArray(one) || !Array.isArray(other) || one.length === other.length) return key
  return `${key} (${other.length}, were ${one.length})`
}

function valueAt(value: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((inner, step) => Object(inner)[step], value)
}
