import { SallyportError } from '@sallyport/core'
import { readWhole } from '#files'
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
    return readWhole(template)
  } catch (error) {
    throw new SallyportError('invalid_config', `refusal.template: ${template} ${(error as Error).message}`)
  }
}
