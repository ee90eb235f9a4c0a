import { z } from 'zod'

/** Takes of a value what a schema lists. */
type Listed = (value: unknown) => unknown

/**
 * Makes the function that takes of a value the members that its schema lists, in their order: what an answer does not
 * describe is never sent, whatever the services behind it add to theirs. It checks nothing: a value that the schema
 * would refuse is no reason for a 500.
 */
export function listedIn(schema: z.ZodType): Listed {
  return partOf(schema) ?? ((value) => value)
}

/** `undefined` where all of a value is listed: words, numbers, and maps of the caller's own members. */
function partOf(schema: z.core.$ZodType): Listed | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return partOf(schema.unwrap())
  if (schema instanceof z.ZodArray) {
    const item = partOf(schema.element)
    return item && ((value) => (Array.isArray(value) ? value.map(item) : value))
  }
  const members = membersOf(schema)
  return members && ((value) => (typeof value === 'object' && value !== null ? listed(value, members) : value))
}

type Members = readonly (readonly [name: string, part: Listed | undefined])[]

/** The members of an object; of several that may be meant, those of all. */
function membersOf(schema: z.core.$ZodType): Members | undefined {
  if (schema instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(schema.shape).map(([name, type]) => [name, partOf(type)])
  }
  if (!(schema instanceof z.ZodUnion)) return undefined
  const all = schema.options.flatMap((option) => membersOf(option) ?? [])
  return all.length === 0 ? undefined : all
}

function listed(value: object, members: Members): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = {}
  for (const [name, part] of members) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name]
    if (member !== undefined) kept[name] = part === undefined ? member : part(member)
  }
  return kept
}
