/** Only one operator can assign such host names: a fixed start, a varying part, a fixed end on a label boundary. */
export interface NamePattern {
  /** The pattern as written: `rate-limited-proxy-*.google.com`. */
  readonly text: string
  readonly start: string
  /** Begins with a dot. */
  readonly end: string
}

/** Reads a pattern; throws `TypeError` unless it has one `*` followed by a dot and two labels or more. */
export function parseNamePattern(text: string): NamePattern {
  const [start, end, more] = text.split('*')
  if (start === undefined || end === undefined || more !== undefined || !/^(\.[a-z0-9-]+){2,}$/.test(end)) {
    throw new TypeError(`not a pattern of names: ${text}`)
  }
  return { text, start, end }
}

/** Reports whether a name, in lower case and without its final dot, matches a pattern. */
export function isOfPattern(name: string, { start, end }: NamePattern): boolean {
  return name.length > start.length + end.length && name.startsWith(start) && name.endsWith(end)
}
