import { configWarnings, wordFaults } from './check.ts'
import { readEnvironment } from './environment.ts'
import { ConfigError, type ConfigFault } from './faults.ts'
import { readFile } from './file.ts'
import { type Layer, type Mapping, mergeLayers } from './layers.ts'
import { located } from './located.ts'
import { Config, type ConfigInput } from './schema.ts'
import { schemaFaults } from './schema-faults.ts'
import { type Environment, findSecretFile, readSecrets } from './secrets.ts'
import { mapTexts, schemaTree } from './tree.ts'

/** Sources of a configuration; each later one wins: file, then environment, then flags. */
export interface ConfigSources {
  readonly file?: string | undefined
  readonly env?: Environment | undefined
  readonly flags?: ConfigInput | undefined
  /** Whether a file without any key is refused, as the command does. Default: `false`, all defaults apply. */
  readonly needsKeys?: boolean | undefined
}

/** Holds the configuration and its origin. */
export interface ConfigRead {
  readonly config: Config
  /** Settings that are allowed and probably not intended. */
  readonly warnings: readonly ConfigFault[]
  /** Each later layer wins. */
  readonly layers: readonly Layer[]
}

/** Reads and checks a configuration; throws `invalid_config`, which names the file, the line or the key. */
export function readConfig(sources: ConfigSources): Config {
  return readConfigFrom(sources).config
}

/** Reads a configuration with the origin of its values; throws a `ConfigError` with every fault. */
export function readConfigFrom({ file, env = {}, flags = {}, needsKeys = false }: ConfigSources): ConfigRead {
  const tree = schemaTree()
  const written = file === undefined ? [] : [readFile(file)]
  if (needsKeys) for (const layer of written) refuseEmpty(layer)
  const environment = readEnvironment(env, tree)
  const layers = [...written, environment.layer, flagsLayer(flags)]
  const { values, faults } = readSecrets(mergeLayers(layers), tree, env)
  const secrets = faults.map((fault) => located(fault, values, layers))
  const errors = [...environment.errors, ...secrets]
  const result = Config.safeParse(values)
  if (!result.success) {
    // A secret that could not be read is missing too, and its own fault already says so.
    const others = schemaFaults(result.error, values, layers, tree).filter(
      ({ key }) => key === undefined || !secrets.some((secret) => `${secret.key}.`.startsWith(`${key}.`)),
    )
    throw new ConfigError([...errors, ...others])
  }
  const config = result.data
  errors.push(...wordFaults(config, layers))
  if (errors.length > 0) throw new ConfigError(errors)
  return { config, layers, warnings: [...environment.warnings, ...configWarnings(config, layers)] }
}

/** An empty file is never meant to remove all rules: an editor is still writing it, or it was lost. */
function refuseEmpty({ values, findPlace }: Layer): void {
  if (Object.keys(values).length > 0) return
  throw new ConfigError([{ place: findPlace([]), message: 'has no keys. To use the defaults only, omit --config' }])
}

/** Lists the files that a configuration names and a reload reads with it; the content of a secret is a value: `file:PATH`. */
export function listFiles({ layers }: ConfigRead) {
  const found: { secrets: string[]; files: string[] } = { secrets: [], files: [] }
  mapTexts(mergeLayers(layers), schemaTree(), (text, { secret, file, live }) => {
    if (secret === true) found.secrets.push(...findSecretFile(text))
    if (file === true && live === true) found.files.push(text)
  })
  return found
}

/** Makes a layer of flags: flags have the names of their keys, `--data-dir` for `dataDir`. */
function flagsLayer(flags: ConfigInput): Layer {
  return {
    values: flags as Mapping,
    findPlace([key]) {
      const flag = `--${String(key).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      return { text: flag, flag }
    },
  }
}
