import { findField } from './labels.ts'
import type { Line } from './lines.ts'
import { hostsIn } from './values.ts'

/** Labels under which registries list hosts whose names merely begin with what was asked, each with a registrar. */
const HOST_HEADS: ReadonlySet<string> = new Set(['server name', 'host name', 'hostname'])

/**
 * The lines of the record that was asked for, where an answer has several: each begins with the same label and another
 * domain's name. It is the one of `domain`, or else the first of those that say most. Blocks about hosts that stand before
 * the record go too: their registrars are not the domain's.
 */
export function oneRecord(lines: readonly Line[], domain: string | undefined): readonly Line[] {
  const heads: { readonly at: number; readonly name: string; readonly label: string }[] = []
  for (const [at, { label, value }] of lines.entries()) {
    if (findField(label) !== 'domain') continue
    const name = hostsIn(value.slice(0, 300).split(/\s/, 1)[0] as string)[0]
    // A name in two scripts is one record under two labels.
    if (name === undefined || (heads[0] !== undefined && heads[0].label !== label)) continue
    if (heads.at(-1)?.name !== name) heads.push({ at, name, label })
  }
  const [first] = heads
  if (first === undefined) return lines
  const before = lines.slice(0, first.at)
  const preamble = before.some(({ label }) => HOST_HEADS.has(label)) ? [] : before
  const records = heads.map(({ at, name }, record) => ({ name, lines: lines.slice(at, heads[record + 1]?.at) }))
  const own = records.find(({ name }) => name === domain) ?? fullest(records)
  return [...preamble, ...own.lines]
}

function fullest<T extends { readonly lines: readonly Line[] }>(records: readonly T[]): T {
  const facts = ({ lines }: T) =>
    new Set(lines.map(({ label, value }) => (value === '' ? undefined : findField(label)))).size
  return records.reduce((best, record) => (facts(record) > facts(best) ? record : best))
}
