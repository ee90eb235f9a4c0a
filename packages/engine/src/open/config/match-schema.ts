import { MATCH_WORDS, type Match, type Member } from '@sallyport/core'
import { z } from 'zod'
import { key } from './key.ts'

const SHARE = { unit: 'share' }

const SINGLE = {
  text: z.string(),
  texts: z.array(z.string()),
  numbers: z.array(z.int().nonnegative()),
  flag: z.boolean(),
  share: z.number().min(0).max(1),
}

function schemaOf({ shape, description, absent = 'any', example }: Member): z.ZodType {
  if (typeof shape === 'object' && 'members' in shape) {
    const members = Object.entries(shape.members).map(([name, member]) => [name, schemaOf(member)])
    return z.strictObject(Object.fromEntries(members)).partial().describe(description)
  }
  const schema: z.ZodType = typeof shape === 'string' ? SINGLE[shape] : z.array(z.enum(shape.words))
  return key(schema, `${description}; absent: ${absent}`, example, shape === 'share' ? SHARE : {})
}

const WORDS = Object.entries(MATCH_WORDS).map(([name, { values, description, example }]) => [
  name,
  schemaOf({ shape: values.shape, description, example }),
])

/** The `match` of a rule, made of the rows of its words; core, which has no zod, says the shape of each value. */
export const MatchSchema = z.strictObject(Object.fromEntries(WORDS)).partial() as z.ZodType<Match, Match>
