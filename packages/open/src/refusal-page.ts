import { readFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import type { Config } from './config/schema.ts'

/** A text, or one by language (BCP 47), of which the first is the default. */
type LocalText = string | Readonly<Record<string, string>>

/** What refused visitors read; a part that is absent has a text of our own. */
export interface RefusalPage {
  readonly title?: LocalText | undefined
  readonly text?: LocalText | undefined
  readonly contact?: string | undefined
  /** The text of the template file. */
  readonly template?: string | undefined
}

/** The page of a configuration, with its template read. Throws `invalid_config` where that cannot be. */
export function refusalPageOf({ refusal }: Pick<Config, 'refusal'>): RefusalPage {
  const { template, ...page } = refusal
  if (template === undefined) return page
  try {
    return { ...page, template: readFileSync(template, 'utf8') }
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : 'unreadable'
    throw new SallyportError('invalid_config', `refusal.template: cannot read ${template}: ${why}`)
  }
}
