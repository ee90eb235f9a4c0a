import { MATCH_WORDS, type Match, type MatchWord, type Member, PLAIN_WORDS } from '@sallyport/core'
import { z } from 'zod'
import { key } from './key.ts'

/** Units of the shapes that are numbers. */
const UNITS: Readonly<Record<string, string>> = {
  share: 'share',
  ratio: 'share',
  points: 'points',
  level: 'level',
  pages: 'pages',
}

const SINGLE = {
  text: z.string(),
  texts: z.array(z.string()),
  numbers: z.array(z.union([z.int().nonnegative(), z.string().regex(/^list:./, 'must be a number or list:NAME')])),
  flag: z.boolean(),
  share: z.number().min(0).max(1),
  points: z.number().min(0),
  level: z.int().min(0),
  pages: z.int().min(0),
  ratio: z.number().min(0),
  named: z.record(z.string(), z.array(z.string())),
}

function memberSchema({ shape, description, absent = 'any', example }: Member): z.ZodType {
  if (shape === 'match') return key(makeWordsSchema(PLAIN_WORDS), `${description}; absent: none`, example as never)
  if (typeof shape === 'object' && 'members' in shape) {
    const members = Object.entries(shape.members).map(([name, member]) => [name, memberSchema(member)])
    const schema = z.strictObject(Object.fromEntries(members)).partial().describe(description)
    if (shape.word === undefined) return schema
    return key(z.union([z.literal(shape.word), schema]), `${description}; absent: ${absent}`, example as never)
  }
  const schema = makeValueSchema(shape)
  return key(schema, `${description}; absent: ${absent}`, example, memberUnit(shape))
}

function makeValueSchema(shape: Exclude<Member['shape'], 'match' | { readonly members: unknown }>): z.ZodType {
  if (typeof shape === 'string') return SINGLE[shape]
  if ('words' in shape) return z.array(z.enum(shape.words))
  return z.partialRecord(z.enum(shape.flags), z.boolean())
}

function memberUnit(shape: Member['shape']): { readonly unit?: string | undefined } {
  const unit = typeof shape === 'string' ? UNITS[shape] : undefined
  return unit === undefined ? {} : { unit }
}

function makeWordsSchema(words: Readonly<Record<string, MatchWord<unknown>>>) {
  const members = Object.entries(words).map(([name, { values, description, example }]) => [
    name,
    memberSchema({ shape: values.shape, description, example }),
  ])
  return z.strictObject(Object.fromEntries(members)).partial()
}

/** The `match` of a rule, made of the rows of its words; core, which has no zod, says the shape of each value. */
export const MatchSchema = makeWordsSchema(MATCH_WORDS) as z.ZodType<Match, Match>
