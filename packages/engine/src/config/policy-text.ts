import { isRecord, policyFaults, policyWarnings } from '@sallyport/core'
import { type Document, isScalar, isMap as isYamlMap, parseDocument, stringify, visit } from 'yaml'
import { PolicySchema } from '#settings'
import { ConfigError, type ConfigFault } from './faults.ts'
import { readText } from './file.ts'
import { located } from './located.ts'
import type { Config } from './schema.ts'
import { schemaFaults } from './schema-faults.ts'
import { schemaTree } from './tree.ts'

/** A policy's text, read: the policy, or its faults. */
export interface PolicyText {
  /** Absent where there are faults. */
  readonly policy?: Config['policy'] | undefined
  readonly faults: readonly ConfigFault[]
  /** Rules that are allowed and most likely not meant. */
  readonly warnings: readonly ConfigFault[]
}

const NAME = 'policy'

/** Reads a policy that somebody writes, with every fault and its line; it has no anchors, aliases or merge keys. `lists`: names of those that there are. */
export function checkPolicyText(text: string, lists: readonly string[] = []): PolicyText {
  try {
    const layer = readText(text, NAME, anchorIn)
    const values = isRecord(layer.values['policy']) ? layer.values['policy'] : layer.values
    const isWithin = values !== layer.values
    const placed = {
      values,
      placeOf: (path: readonly PropertyKey[]) => layer.placeOf(isWithin ? ['policy', ...path] : path),
    }
    const result = PolicySchema.safeParse(values)
    if (!result.success) {
      const faults = schemaFaults(result.error, values, [placed], schemaTree(PolicySchema))
      return { faults, warnings: [] }
    }
    const policy = result.data
    const at = (fault: Parameters<typeof located>[0]): ConfigFault => located(fault, policy, [placed])
    const faults = policyFaults(policy, new Set(lists)).map(at)
    if (faults.length > 0) return { faults, warnings: [] }
    return { policy, faults, warnings: policyWarnings(policy).map(at) }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { faults: error.faults, warnings: [] }
  }
}

/** Finds where a text that others send says a thing once and means it many times: the offset, and what is wrong with it. */
function anchorIn(document: Document): readonly [offset: number, message: string] | undefined {
  let found: number | undefined
  visit(document, {
    Alias: (_, { range }) => {
      found = range?.[0] ?? 0
      return visit.BREAK
    },
    Node: (_, node) => {
      if (!('anchor' in node) || node.anchor === undefined) return undefined
      found = node.range?.[0] ?? 0
      return visit.BREAK
    },
    Pair: (_, { key }) => {
      if (!isScalar(key) || key.value !== '<<') return undefined
      found = key.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return found === undefined ? undefined : [found, 'anchors, aliases and merge keys are not read here: write it out']
}

/** A policy as people write it. */
export function policyText(policy: Config['policy']): string {
  return stringify(policy, { lineWidth: 110, collectionStyle: 'any', aliasDuplicateObjects: false })
}

/**
 * The text of a configuration with another policy, the rest as it was written, comments too. Throws `invalid_config` for
 * a policy that is not usable.
 */
export function replacePolicy(configuration: string, policy: string, lists: readonly string[] = []): string {
  const { faults } = checkPolicyText(policy, lists)
  if (faults.length > 0) throw new ConfigError(faults)
  const document = parseDocument(configuration)
  const next = parseDocument(policy)
  const within = isYamlMap(next.contents) ? next.get('policy', true) : undefined
  document.set('policy', isYamlMap(within) ? within : next.contents)
  return document.toString({ lineWidth: 0 })
}
