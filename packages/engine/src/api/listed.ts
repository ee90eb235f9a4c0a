import { z } from 'zod'

type Listed = (value: unknown) => unknown

/**
 * Makes the function that takes from a value the members that its schema lists, in their order: a response never contains what its document
 * does not describe, whatever the services add. It checks nothing: a value that the schema would refuse is no reason for a 500.
 */
export function listedIn(schema: z.ZodType): Listed {
  return listPart(schema) ?? ((value) => value)
}

/** Returns `undefined` when all of a value is listed: words, numbers, and maps of the caller's own members. */
function listPart(schema: z.core.$ZodType): Listed | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return listPart(schema.unwrap())
  if (schema instanceof z.ZodArray) {
    const item = listPart(schema.element)
    return item && ((value) => (Array.isArray(value) ? value.map(item) : value))
  }
  const members = listMembers(schema)
  return members && ((value) => (typeof value === 'object' && value !== null ? pickListed(value, members) : value))
}

type Members = readonly (readonly [name: string, part: Listed | undefined])[]

/** Lists the members of an object; where several objects are possible, the members of all. */
function listMembers(schema: z.core.$ZodType): Members | undefined {
  if (schema instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(schema.shape).map(([name, type]) => [name, listPart(type)])
  }
  if (!(schema instanceof z.ZodUnion)) return undefined
  const all = schema.options.flatMap((option) => listMembers(option) ?? [])
  return all.length === 0 ? undefined : all
}

function pickListed(value: object, members: Members): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = {}
  for (const [name, part] of members) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name]
    if (member !== undefined) kept[name] = part === undefined ? member : part(member)
  }
  return kept
}
