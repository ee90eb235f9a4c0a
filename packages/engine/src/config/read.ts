import { isRecord } from '@sallyport/core'
import { configWarnings, wordFaults } from './check.ts'
import { readEnvironment } from './environment.ts'
import { ConfigError, type ConfigFault } from './faults.ts'
import { readFile } from './file.ts'
import { type Layer, type Mapping, mergeLayers } from './layers.ts'
import { located } from './located.ts'
import { Config, type ConfigInput } from './schema.ts'
import { schemaFaults } from './schema-faults.ts'
import { type Environment, fileOfSecret, readSecrets } from './secrets.ts'
import { type SchemaNode, schemaTree, within } from './tree.ts'

/** Sources of a configuration; each later one wins: file, then environment, then flags. */
export interface ConfigSources {
  readonly file?: string | undefined
  readonly env?: Environment | undefined
  readonly flags?: ConfigInput | undefined
  /** Whether a file without any key is refused, as the command does it. Default: `false`, it is all defaults. */
  readonly needsKeys?: boolean | undefined
}

/** A configuration that was read, and from where. */
export interface ConfigRead {
  readonly config: Config
  /** Settings that are allowed and most likely not meant. */
  readonly warnings: readonly ConfigFault[]
  /** In the order in which each later one wins. */
  readonly layers: readonly Layer[]
}

/** Reads and checks a configuration; throws `invalid_config` that names the file, the line or the key. */
export function readConfig(sources: ConfigSources): Config {
  return readConfigFrom(sources).config
}

/** The same, with all that is known of where it comes from; throws a `ConfigError` with every fault. */
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
    // A secret that could not be read is missing too, which has been said.
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

/** Nobody takes all rules away by an empty file: somebody is writing it, or has lost it. */
function refuseEmpty({ values, placeOf }: Layer): void {
  if (Object.keys(values).length > 0) return
  throw new ConfigError([{ place: placeOf([]), message: 'holds no keys; where all defaults are meant, name no file' }])
}

/** The files that a configuration names and a reload reads with it. */
export interface NamedFiles {
  /** Files whose content is a value: `file:PATH`. */
  readonly secrets: readonly string[]
  /** Certificates, pages and the like. */
  readonly files: readonly string[]
}

export function filesOf({ layers }: ConfigRead): NamedFiles {
  const found: { secrets: string[]; files: string[] } = { secrets: [], files: [] }
  const walk = (value: unknown, node: SchemaNode | undefined, live: boolean): void => {
    if (node === undefined) return
    const isLive = node.live ?? live
    if (typeof value === 'string') {
      if (node.secret === true) found.secrets.push(...fileOfSecret(value))
      if (node.file === true && isLive) found.files.push(value)
    } else if (Array.isArray(value)) {
      for (const inner of value) walk(inner, node.items, isLive)
    } else if (isRecord(value)) {
      for (const [key, inner] of Object.entries(value)) walk(inner, within(node, key), isLive)
    }
  }
  walk(mergeLayers(layers), schemaTree(), false)
  return found
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
