import { PRESET_NAMES } from '@sallyport/core'
import { cell, code, table } from '../tables/markdown.ts'
import { allOutcomes, type ServiceOutcome } from './outcomes.ts'
import type { Service } from './services.ts'

const OUTCOMES = await allOutcomes()

/** Presets that refuse nothing are left out. */
const SHOWN = PRESET_NAMES.filter((preset) => preset !== 'observe')

const MAX_NAMES = 7

/** Lists services as counted in one minute, and the presets that refuse them. Services of a kind with the same answers share a row. */
export function services(): string {
  const rows = new Map<string, { kind: string; names: string[]; answers: readonly string[] }>()
  for (const [service, row] of OUTCOMES) {
    const answers = SHOWN.map((preset) => answerText(preset, row.get(preset) as ServiceOutcome))
    const key = [service.kind, ...answers].join()
    const known = rows.get(key)
    // Lines stay short enough to be read.
    if (known === undefined || known.names.length === MAX_NAMES) {
      if (known !== undefined) rows.set(`${key} ${rows.size}`, known)
      rows.set(key, { kind: service.kind, names: [nameText(service)], answers })
    } else known.names.push(nameText(service))
  }
  const cells = [...rows.values()].map(({ kind, names, answers }) => [
    cell(kind),
    cell(names.join(', ')),
    answers.filter((text) => text !== '').join('; '),
  ])
  return table(['kind', 'services, with requests a minute', 'exceptions'], cells)
}

function nameText({ name, perMinute, clients = 1 }: Service): string {
  return `${name.replaceAll(',', '')} ${perMinute}${clients === 1 ? '' : `×${clients}`}`
}

/** Writes what a preset does to a service that it does not let pass, with the rule. */
function answerText(preset: string, { answer, rule, passed }: ServiceOutcome): string {
  if (answer === 'passes') return ''
  const effect = answer === 'page' ? 'shows a page' : `**refuses**${passed === 0 ? '' : ` beyond ${passed}`}`
  return `${code(preset)} ${effect} (${code(rule)})`
}
