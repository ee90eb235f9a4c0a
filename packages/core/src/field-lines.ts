import { isNamed } from './address/forwarding.ts'

/** Lists the values of a header field by its name in lower case, one for each line. */
export function listFieldLines(fields: readonly string[], name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, name)) lines.push(fields[at + 1] as string)
  }
  return lines
}
