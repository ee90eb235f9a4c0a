import { configWarnings, located, schemaFaults, wordFaults } from './check.ts'
import { readEnvironment } from './environment.ts'
import { ConfigError, type ConfigFault } from './faults.ts'
import { readFile } from './file.ts'
import { type Layer, type Mapping, mergeLayers } from './layers.ts'
import { Config, type ConfigInput } from './schema.ts'
import { type Environment, readSecrets } from './secrets.ts'
import { schemaTree } from './tree.ts'

/** Where a configuration comes from; each later one wins: file, then environment, then flags. */
export interface ConfigSources {
  readonly file?: string
  readonly env?: Environment
  readonly flags?: ConfigInput
}

/** A configuration that was read, and from where. */
export interface ConfigRead {
  readonly config: Config
  /** What can be meant, and most likely is not. */
  readonly warnings: readonly ConfigFault[]
  /** In the order in which each later one wins. */
  readonly layers: readonly Layer[]
}

/** Reads and checks a configuration; throws `invalid_config` that names the file, the line or the key. */
export function readConfig(sources: ConfigSources): Config {
  return readConfigFrom(sources).config
}

/** The same, with all that is known of where it comes from; throws a `ConfigError` with every fault. */
export function readConfigFrom({ file, env = {}, flags = {} }: ConfigSources): ConfigRead {
  const tree = schemaTree()
  const environment = readEnvironment(env, tree)
  const layers = [...(file === undefined ? [] : [readFile(file)]), environment.layer, flagsLayer(flags)]
  const { values, faults } = readSecrets(mergeLayers(layers), tree, env)
  const secrets = faults.map((fault) => located(fault, values, layers))
  const errors = [...environment.errors, ...secrets]
  const result = Config.safeParse(values)
  if (!result.success) {
    // A secret that could not be read is missing too, which has been said.
    const others = schemaFaults(result.error, values, layers, tree).filter(
      ({ key }) => key === undefined || !secrets.some((secret) => secret.key === key),
    )
    throw new ConfigError([...errors, ...others])
  }
  const config = result.data
  errors.push(...wordFaults(config, layers))
  if (errors.length > 0) throw new ConfigError(errors)
  return { config, layers, warnings: [...environment.warnings, ...configWarnings(config, layers)] }
}

/** Checks a configuration given in code; throws `invalid_config` that names the key. */
export function parseConfig(input: unknown): Config {
  const result = Config.safeParse(input)
  if (result.success) return result.data
  throw new ConfigError(schemaFaults(result.error, input, [], schemaTree()))
}

/** `--data-dir` of `dataDir`: flags have the names of their keys. */
function flagsLayer(flags: ConfigInput): Layer {
  return {
    values: flags as Mapping,
    placeOf([key]) {
      const flag = `--${String(key).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      return { text: flag, flag }
    },
  }
}
