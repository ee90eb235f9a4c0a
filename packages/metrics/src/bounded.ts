/** Names what did not fit any more. */
export const OTHER = 'other'

/** Values of one label: the first `max` different ones as they are, all later ones as `other`. */
export function createBound(max: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= max || value.length > MAX_LENGTH) return OTHER
    known.add(value)
    return value
  }
}

const MAX_LENGTH = 64
