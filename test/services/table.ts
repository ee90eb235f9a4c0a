import { PRESET_NAMES } from '@sallyport/core'
import { cell, code, table } from '../tables/markdown.ts'
import { allOutcomes, type ServiceOutcome } from './outcomes.ts'
import type { Service } from './services.ts'

const OUTCOMES = await allOutcomes()

/** Presets that refuse nothing are left out. */
const SHOWN = PRESET_NAMES.filter((preset) => preset !== 'observe')

const MAX_NAMES = 7

/** Services by presets, as they are counted in one minute. Services of a kind with the same answers share a row. */
export function services(): string {
  const rows = new Map<
    string,
    { readonly kind: string; readonly names: string[]; readonly answers: readonly string[] }
  >()
  for (const [service, row] of OUTCOMES) {
    const answers = SHOWN.map((preset) => answerText(row.get(preset) as ServiceOutcome))
    const key = [service.kind, ...answers].join()
    const known = rows.get(key)
    // Lines stay short enough to be read.
    if (known === undefined || known.names.length === MAX_NAMES) {
      if (known !== undefined) rows.set(`${key} ${rows.size}`, known)
      rows.set(key, { kind: service.kind, names: [nameText(service)], answers })
    } else known.names.push(nameText(service))
  }
  const cells = [...rows.values()].map(({ kind, names, answers }) => [cell(kind), cell(names.join(', ')), ...answers])
  return table(['kind', 'services, with requests a minute', ...SHOWN.map(code)], cells)
}

function nameText({ name, perMinute, clients = 1 }: Service): string {
  return `${name.replaceAll(',', '')} ${perMinute}${clients === 1 ? '' : `×${clients}`}`
}

function answerText({ answer, rule, passed }: ServiceOutcome): string {
  if (answer === 'passes') return '✓'
  if (answer === 'page') return `page (${code(rule)})`
  return passed === 0 ? `**refused** (${code(rule)})` : `**refused** beyond ${passed} (${code(rule)})`
}
