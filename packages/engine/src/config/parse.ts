import type { z } from 'zod'
import { ConfigError } from './faults.ts'
import type { Layer } from './layers.ts'
import { Config } from './schema.ts'
import { schemaFaults } from './schema-faults.ts'
import { schemaTree } from './tree.ts'

/** Checks a configuration given in code; throws `invalid_config` that names the key. */
export function parseConfig(input: unknown): Config {
  return parseValues(Config, input)
}

/** Checks values by a schema; throws `invalid_config`, which names the key of each fault and its place in a layer. */
export function parseValues<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
  layers: readonly Layer[] = [],
): z.output<Schema> {
  const result = schema.safeParse(values)
  if (result.success) return result.data
  throw new ConfigError(schemaFaults(result.error, values, layers, schemaTree(schema)))
}
