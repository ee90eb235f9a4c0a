import { readWhole } from '#files'
import type { LocatedFault } from '#settings'
import type { Mapping } from './layers.ts'
import { mapTexts, type SchemaNode } from './tree.ts'

/** Forms of a secret beside its value: a file that holds it, or a text with variables of the environment. */
export const REFERENCE = /^file:|\$\{\w/

const VARIABLE = /\$\{(\w{1,99})\}/g

export type Environment = Readonly<Record<string, string | undefined>>

/** The values with every secret read: `file:PATH` from that file, `${NAME}` from the environment. */
export function readSecrets(values: Mapping, tree: SchemaNode, env: Environment) {
  const faults: LocatedFault[] = []
  const read = mapTexts(values, tree, (written, { secret }, path) => {
    if (secret !== true) return written
    const { text, message } = readSecret(written, env)
    if (message !== undefined) faults.push({ path, message })
    return text
  })
  return { values: read as Mapping, faults }
}

/** The file that a secret is in, where it is named by one. */
export function findSecretFile(written: string): readonly string[] {
  return written.startsWith('file:') ? [written.slice('file:'.length).replace(/^\/\/(?=\/)/, '')] : []
}

/** `text` is absent where it could not be read. */
function readSecret(
  written: string,
  env: Environment,
): { readonly text?: string | undefined; readonly message?: string | undefined } {
  const [file] = findSecretFile(written)
  if (file !== undefined) {
    try {
      return { text: readWhole(file).replace(/\r?\n$/, '') }
    } catch (error) {
      return { message: `${file} ${(error as Error).message}` }
    }
  }
  const missing = [...written.matchAll(VARIABLE)].flatMap(([, name = '']) => (env[name] ? [] : [name]))
  if (missing.length > 0) return { message: `the variable ${missing[0]} is not set` }
  return { text: written.replace(VARIABLE, (_, name: string) => env[name] ?? '') }
}
