import type { z } from 'zod'

/** A key that is never shown, and that may be written as `file:PATH` or with `${NAME}`. */
export const SECRET = { secret: true }

/** What is said of a key beside its type: editors, `config schema` and the tables of the documents show it. */
interface Notes {
  /** Of a number; a length of time is written with its own. */
  readonly unit?: string
  readonly secret?: boolean
}

/** A key with its description and an example; one that may be absent says in `absent: …` what holds then. */
export function key<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.input<Schema>,
  notes: Notes = {},
): Schema {
  return schema.meta({ ...notes, description, example })
}
