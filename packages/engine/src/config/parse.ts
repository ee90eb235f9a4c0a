import { ConfigError } from './faults.ts'
import { Config } from './schema.ts'
import { schemaFaults } from './schema-faults.ts'
import { schemaTree } from './tree.ts'

/** Checks a configuration given in code; throws `invalid_config` that names the key. */
export function parseConfig(input: unknown): Config {
  const result = Config.safeParse(input)
  if (result.success) return result.data
  throw new ConfigError(schemaFaults(result.error, input, [], schemaTree()))
}
