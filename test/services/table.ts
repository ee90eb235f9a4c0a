import { PRESET_NAMES } from '@sallyport/core'
import { cell, code, table } from '../tables/markdown.ts'
import { allOutcomes, type ServiceOutcome } from './outcomes.ts'

const OUTCOMES = await allOutcomes()

/** Presets that refuse nothing are left out. */
const SHOWN = PRESET_NAMES.filter((preset) => preset !== 'observe')

/** Services by presets, as they are counted in one minute. */
export function services(): string {
  const rows = [...OUTCOMES].map(([{ name, kind, perMinute, clients = 1 }, row]) => [
    cell(`${kind}: ${name}`),
    clients === 1 ? `${perMinute}` : `${perMinute} × ${clients}`,
    ...SHOWN.map((preset) => answerText(row.get(preset) as ServiceOutcome)),
  ])
  return table(['service', 'a minute', ...SHOWN.map(code)], rows)
}

function answerText({ answer, rule, passed }: ServiceOutcome): string {
  if (answer === 'passes') return 'passes'
  if (answer === 'page') return `page (${code(rule)})`
  return passed === 0 ? `**refused** (${code(rule)})` : `**refused** beyond ${passed} (${code(rule)})`
}
