import { existsSync, readFileSync } from 'node:fs'
import { isRecord } from '@sallyport/core'
import { isAlias, isScalar, isSeq, isMap as isYamlMap, type Node } from 'yaml'
import { decodeText, fileReason, placeFault } from '#files'
import { parseYaml } from '#settings/yaml'
import { ConfigError } from './faults.ts'
import type { Layer } from './layers.ts'

/** Reads a YAML or JSON file of keys; throws `invalid_config` that names the file and the line. */
export function readFile(file: string): Layer {
  return readText(readConfigText(file), file)
}

/** Reads a text that is named as a file is, and of which `findRefused` finds what it may not hold. */
export function readText(text: string, file: string, findRefused?: Parameters<typeof parseYaml>[1]): Layer {
  const { document, findLine, fault } = parseYaml(text, findRefused)
  if (fault !== undefined) {
    const { line, message } = fault
    throw new ConfigError([{ place: { text: `${file}:${line}`, file, line }, message }])
  }
  const values = plainValue(document, file) ?? {}
  if (!isRecord(values)) throw new ConfigError([{ place: { text: file, file }, message: 'must be a map of keys' }])
  return {
    values,
    findPlace(path) {
      const offset = findOffset(document.contents, path, (node) => (isAlias(node) ? node.resolve(document) : node))
      const line = findLine(offset)
      return { text: `${file}:${line}`, file, line }
    },
  }
}

/** A pipe is read too: shells write `<(…)` as one. */
function readConfigText(file: string): string {
  const fault = existsSync(file) ? placeFault(file) : undefined
  if (fault !== undefined) throw new ConfigError([{ message: `cannot read ${file}: it ${fault}` }])
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw new ConfigError([{ message: `${file} ${fileReason(error)}` }])
  }
  try {
    return decodeText(bytes)
  } catch (error) {
    throw new ConfigError([{ place: { text: file, file }, message: (error as Error).message }])
  }
}

/** Aliases of aliases can expand to a huge document: the parser throws on them. */
function plainValue(document: { toJS(): unknown }, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    const isHuge = error instanceof Error && /alias count|circular/i.test(error.message)
    const message = isHuge ? 'its aliases (*) expand to too many nodes' : 'its aliases (*) cannot be resolved'
    throw new ConfigError([{ place: { text: file, file }, message }])
  }
}

/** Offset of a path's key in the text, or the entry of a list, as far as the path goes. */
function findOffset(contents: Node | null, path: readonly PropertyKey[], resolve: (node: unknown) => unknown): number {
  let node: unknown = contents
  let offset = contents?.range?.[0] ?? 0
  for (const step of path) {
    const inner = resolve(node)
    if (isYamlMap(inner)) {
      const pair = inner.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (!isScalar(pair?.key)) return offset
      offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(inner)) {
      node = inner.items[Number(step)]
      offset = (node as Node | undefined)?.range?.[0] ?? offset
    } else {
      return offset
    }
  }
  return offset
}
