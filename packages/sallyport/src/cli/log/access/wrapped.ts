import { recordIn, textOf } from './members.ts'

/** Beginnings that collectors put before a line: Kubernetes, Compose, syslog and journald. */
const BEFORE = [
  /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP] /,
  /^[\w.-]+ +\| /,
  /^(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) \S+ [\w./-]+(?:\[\d+\])?: /,
]

/** A line as its program wrote it, where a collector has put it into one of its own. */
export function unwrapped(line: string): string {
  for (const before of BEFORE) {
    const [beginning] = before.exec(line) ?? []
    if (beginning !== undefined) return line.slice(beginning.length)
  }
  // Docker and journald have JSON of their own around a line.
  if (!line.startsWith('{"log":') && !line.includes('"MESSAGE"')) return line
  return textOf(recordIn(line), 'log', 'MESSAGE')?.trimEnd() ?? line
}
