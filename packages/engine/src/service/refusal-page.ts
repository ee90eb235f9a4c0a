import { SallyportError } from '@sallyport/core'
import { readText } from '#files'
import type { Settings } from '#settings'

/** Texts for refused visitors as configured, with the text of the template in place of its path. */
export type RefusalPage = Settings['refusal']

/** The page of a configuration, with its template read. Throws `invalid_config` where that cannot be. */
export function readRefusalPage({ refusal }: Pick<Settings, 'refusal'>): RefusalPage {
  const { template, ...page } = refusal
  if (template === undefined) return page
  const text = readTemplate(template)
  if (text.trim() === '') throw new SallyportError('invalid_config', `refusal.template: ${template} is empty`)
  return { ...page, template: text }
}

/** Places of a template that nothing is written into: visitors would see their braces. */
export function unknownPlaces(template: string): readonly string[] {
  const names = [...template.matchAll(/\{\{(\w{1,40})\}\}/g)].map(([, name = '']) => name)
  return [...new Set(names)].filter((name) => !PLACES.includes(name))
}

/** The places that a page is written into. */
export const PLACES: readonly string[] = ['title', 'text', 'contact', 'id', 'status', 'lang', 'dir']

function readTemplate(template: string): string {
  try {
    return readText(template)
  } catch (error) {
    throw new SallyportError('invalid_config', `refusal.template: ${template} ${(error as Error).message}`)
  }
}
