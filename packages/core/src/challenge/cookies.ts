import { isNamed } from '../address/forwarding.ts'

/** Returns the values of the first cookies of some names (RFC 6265 section 5.4). */
export function cookiesOf(fields: readonly string[], names: readonly string[], max: number): readonly string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, 'cookie')) continue
    const line = fields[at + 1] as string
    // Most requests have cookies, and none of ours.
    if (!line.includes('sallyport')) continue
    for (const pair of line.split(';')) {
      const equals = pair.indexOf('=')
      if (equals === -1 || !names.includes(pair.slice(0, equals).trim())) continue
      if (values.push(pair.slice(equals + 1).trim()) === max) return values
    }
  }
  return values
}
