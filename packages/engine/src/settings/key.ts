import type { z } from 'zod'

/** A key that is never shown, and that may be written as `file:PATH` or with `${NAME}`. */
export const SECRET = { secret: true }

/** A key that names a file, which is read with the configuration. */
export const FILE = { file: true }

/** A key, or a map of keys, that a running service takes over at a reload; the nearest word of a path counts. */
export const LIVE = { live: true }

/** A key that is in force after a restart only, within a map that is taken over. */
export const RESTART = { live: false }

/** Notes on a key beside its type: editors, `config schema` and the tables of the documents show it. */
interface Notes {
  /** Unit of a number; a length of time is written with its own. */
  readonly unit?: string | undefined
  readonly secret?: boolean | undefined
  readonly file?: boolean | undefined
  readonly live?: boolean | undefined
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
