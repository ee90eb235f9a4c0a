import { readFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import type { Config } from './config/schema.ts'

/** Texts for refused visitors as configured, with the text of the template in place of its path. */
export type RefusalPage = Config['refusal']

/** The page of a configuration, with its template read. Throws `invalid_config` where that cannot be. */
export function refusalPageOf({ refusal }: Pick<Config, 'refusal'>): RefusalPage {
  const { template, ...page } = refusal
  if (template === undefined) return page
  const text = textOf(template)
  if (text.trim() === '') throw new SallyportError('invalid_config', `refusal.template: ${template} is empty`)
  return { ...page, template: text }
}

function textOf(template: string): string {
  try {
    return readFileSync(template, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : 'unreadable'
    throw new SallyportError('invalid_config', `refusal.template: cannot read ${template}: ${why}`)
  }
}
