import { isDeepStrictEqual } from 'node:util'
import { policyFaults, policyWarnings } from '@sallyport/core'
import { type Document, isScalar, isSeq, isMap as isYamlMap, parseDocument, stringify, visit, type YAMLMap } from 'yaml'
import { type LocatedFault, PolicySchema } from '#settings'
import { ConfigError, type ConfigFault } from './faults.ts'
import { readText } from './file.ts'
import { narrowToPolicy } from './layers.ts'
import { located } from './located.ts'
import { parseValues } from './parse.ts'
import type { Config } from './schema.ts'

/** A policy's text, read: the policy, or its faults. */
export interface PolicyText {
  /** Absent where there are faults. */
  readonly policy?: Config['policy'] | undefined
  readonly faults: readonly ConfigFault[]
  /** Rules that are allowed and most likely not meant. */
  readonly warnings: readonly ConfigFault[]
}

/** Reads a policy that somebody writes, with every fault and its line; it has no anchors, aliases or merge keys. `lists`: names of those that there are. */
export function checkPolicyText(text: string, lists: readonly string[] = []): PolicyText {
  try {
    const layer = narrowToPolicy(readText(text, 'policy', anchorIn))
    const policy = parseValues(PolicySchema, layer.values, [layer])
    const at = (fault: LocatedFault): ConfigFault => located(fault, policy, [layer])
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
  return found === undefined ? undefined : [found, 'anchors, aliases and merge keys are not supported here']
}

/** A policy as people write it. */
export function policyText(policy: Config['policy']): string {
  return stringify(policy, { lineWidth: 110, collectionStyle: 'any', aliasDuplicateObjects: false })
}

/**
 * The text of a configuration with another policy. Everything else stays as it was written, comments too, and so do the rules and
 * keys that are the same as before, unless the policy brings comments of its own. Throws `invalid_config` for a policy that is not usable.
 */
export function replacePolicy(configuration: string, text: string, lists: readonly string[] = []): string {
  const { policy, faults } = checkPolicyText(text, lists)
  if (policy === undefined) throw new ConfigError(faults)
  const document = parseDocument(configuration)
  const next = parseDocument(text)
  const within = isYamlMap(next.contents) ? next.get('policy', true) : undefined
  const wanted = isYamlMap(within) ? within : next.contents
  const written = document.get('policy', true)
  const before = PolicySchema.safeParse(document.toJS()?.policy)
  if (isYamlMap(written) && isYamlMap(wanted) && before.success && !text.includes('#'))
    changeKeys(written, wanted, before.data, policy)
  else document.set('policy', wanted)
  return document.toString({ lineWidth: 0 })
}

function changeKeys(written: YAMLMap, wanted: YAMLMap, before: Config['policy'], policy: Config['policy']): void {
  for (const { key } of [...written.items]) if (!wanted.has(key)) written.delete(key)
  for (const { key, value } of wanted.items) {
    const name = String(key) as keyof Config['policy']
    const rules = name === 'rules' ? written.get(name, true) : undefined
    if (isSeq(rules) && isSeq(value))
      rules.items = value.items.map((rule, at) => {
        const same = before.rules.findIndex((one) => isDeepStrictEqual(one, policy.rules[at]))
        return rules.items[same] ?? rule
      })
    else if (!isDeepStrictEqual(before[name], policy[name])) written.set(key, value)
  }
}
