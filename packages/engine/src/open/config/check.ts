import {
  compilePolicy,
  createHandoffSigner,
  flaggingRules,
  formatAddress,
  parseAddress,
  parsePrefix,
  parseTrust,
  policyFaults,
  policyWarnings,
  robotsOf,
  SallyportError,
  suggestion,
  usageOf,
} from '@sallyport/core'
import type { z } from 'zod'
import { feedsOf } from '#datasets'
import { listNames } from '../lists/read-lists.ts'
import { decoyFaults, decoyWarnings } from './decoy-faults.ts'
import type { ConfigFault } from './faults.ts'
import { hostPortOf } from './host-port.ts'
import { type Layer, placeOf, valueAt } from './layers.ts'
import { listFaults } from './list-faults.ts'
import { notifyFaults, notifyWarnings } from './notify-faults.ts'
import { secretFault } from './required-secret.ts'
import type { Config } from './schema.ts'
import { nodeAt, type SchemaNode } from './tree.ts'

/** A fault and where it is in the values. */
interface LocatedFault {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly rule?: string | undefined
}

/** Faults of a schema as faults of what was written in these layers. `input` is what was parsed. */
export function schemaFaults(
  { issues }: z.ZodError,
  input: unknown,
  layers: readonly Layer[],
  tree: SchemaNode,
): readonly ConfigFault[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      const given = valueAt(input, issue.path)
      return [located({ path: issue.path, message: messageOf(issue, given) }, input, layers)]
    }
    const known = Object.keys(nodeAt(tree, issue.path)?.properties ?? {})
    return issue.keys.map((key) => {
      const { place, rule } = located({ path: [...issue.path, key], message: '' }, input, layers)
      const name = [...issue.path.map(String), key].join('.')
      const message = `unknown key "${name}"${suggestion(key, known)}`
      return { message, ...(place && { place }), ...(rule && { rule }) }
    })
  })
}

function messageOf(issue: z.core.$ZodIssue, given: unknown): string {
  if (given === undefined) return 'is missing'
  if (issue.code === 'invalid_value' && typeof given === 'string') {
    return `"${given}" is unknown${suggestion(given, issue.values.map(String))}`
  }
  return issue.message.replace(/^(Invalid input|Too small|Too big): /, '')
}

/** Keys that need each other. */
function edgeFaults({ tls, http }: Config): readonly LocatedFault[] {
  if (http !== undefined && tls === undefined) {
    return [{ path: ['http'], message: 'is plain HTTP beside TLS: without tls, name the address in listen' }]
  }
  if (tls !== undefined && tls.redirect !== false && http === undefined) {
    return [{ path: ['tls', 'redirect'], message: 'needs http, the plain listener that it redirects' }]
  }
  if (tls?.acme !== undefined && http === undefined) {
    return [{ path: ['tls', 'acme'], message: 'needs http, where the authority asks for its challenge on port 80' }]
  }
  if (tls !== undefined && tls.acme === undefined && tls.certificates.length === 0) {
    return [{ path: ['tls'], message: 'names no certificates and no acme' }]
  }
  return []
}

/** Listeners that are one another's: only the first could be had. */
function listenerFaults(config: Config): readonly LocatedFault[] {
  const named = (['listen', 'http', 'extAuthz', 'admin'] as const).flatMap((key) => {
    const text = config[key]
    return text === undefined ? [] : [{ key, ...hostPortOf(text) }]
  })
  return named.flatMap(({ key, host, port }, at) => {
    const other = named.slice(0, at).find((one) => port !== 0 && one.port === port && isSameHost(one.host, host))
    return other === undefined ? [] : [{ path: [key], message: `is the address of ${other.key} too` }]
  })
}

/** Whether only one of two hosts can be listened on at one port: they are the same, or one is any address of that family. */
function isSameHost(one: string, other: string): boolean {
  const [first = '', second = ''] = [one, other].map(listenedHost)
  const takes = (any: string, host: string) => any === '::' || (any === '0.0.0.0' && !host.includes(':'))
  return first === second || takes(first, second) || takes(second, first)
}

function listenedHost(host: string): string {
  const address = parseAddress(host === 'localhost' ? '127.0.0.1' : host)
  return address === undefined ? host : formatAddress(address)
}

/** Checks that a schema cannot express: words of the policy, proxies that are trusted, sources, networks. */
export function wordFaults(config: Config, layers: readonly Layer[]): readonly ConfigFault[] {
  const names = new Set(Object.keys(config.lists))
  const found: LocatedFault[] = [
    ...edgeFaults(config),
    ...listenerFaults(config),
    ...listFaults(config.lists),
    ...decoyFaults(config),
    ...notifyFaults(config),
    ...policiesOf(config).flatMap(({ policy, path }) =>
      policyFaults(policy, names).map((fault) => ({ ...fault, path: [...path, ...fault.path] })),
    ),
    ...secretFaults(config),
    ...trustFaults(config.trustProxy),
    ...tried(['clientHeader'], () => parseTrust([], config.clientHeader)),
    ...Object.entries(config.data.sources).flatMap(([id, source]) =>
      tried(['data', 'sources', id], () => feedsOf({ [id]: source })),
    ),
    ...signalFaults(config),
    ...usageFaults(config),
    ...config.handoff.keys.flatMap((key, index) => tried(['handoff', 'keys', index], () => createHandoffSigner([key]))),
    ...config.net.allowPrivate.flatMap((text, index) =>
      parsePrefix(text) === undefined
        ? [{ path: ['net', 'allowPrivate', index], message: `"${text}" is not a CIDR` }]
        : [],
    ),
  ]
  return found.map((fault) => located(fault, config, layers))
}

/** Returns the faults of each entry, or of all together. */
function trustFaults(entries: readonly string[]): readonly LocatedFault[] {
  const found = entries.flatMap((entry, index) => tried(['trustProxy', index], () => parseTrust([entry])))
  return found.length > 0 ? found : tried(['trustProxy'], () => parseTrust(entries))
}

/** Presets and limits may ask too, so each policy is looked at as it is compiled, if it can be. */
function secretFaults(config: Config): readonly LocatedFault[] {
  if (config.challenge.secret !== undefined) return []
  const names = new Set(Object.keys(config.lists))
  const named = { lists: listNames(config) }
  const found = policiesOf(config)
    .filter(({ policy }) => policyFaults(policy, names).length === 0)
    .map(({ policy }) => secretFault(config, compilePolicy(policy, named)))
    .find((fault) => fault !== undefined)
  return found === undefined ? [] : [{ path: ['challenge', 'secret'], message: found }]
}

/** Looked at where signals are written: it asks the whole policy about each crawler. */
function signalFaults({ policy, mode, robots, lists }: Config): readonly LocatedFault[] {
  const { signals } = robots
  if (
    Object.values(signals).every((signal) => signal === undefined) ||
    policyFaults(policy, new Set(Object.keys(lists))).length > 0
  )
    return []
  const named = { lists: listNames({ lists }) }
  return tried(['robots', 'signals'], () =>
    robotsOf({ parts: [{ policy: compilePolicy(policy, named), mode }], signals }),
  )
}

/** Wishes about paths that robots.txt cannot say, or that the policy contradicts. */
function usageFaults(config: Config): readonly LocatedFault[] {
  const { policy, mode, lists, usage } = config
  if (usage === undefined || policyFaults(policy, new Set(Object.keys(lists))).length > 0) return []
  const parts = [{ policy: compilePolicy(policy, { lists: listNames({ lists }) }), mode }]
  return tried(['usage', 'paths'], () => usageOf({ parts, paths: usage.paths }).check())
}

/** Settings that are allowed and most likely not meant. */
export function configWarnings(config: Config, layers: readonly Layer[]): readonly ConfigFault[] {
  const found: LocatedFault[] = policiesOf(config).flatMap(({ policy, path }) =>
    policyWarnings(policy).map((fault) => ({ ...fault, path: [...path, ...fault.path] })),
  )
  return [...found, ...decoyWarnings(config), ...notifyWarnings(config)].map((fault) => located(fault, config, layers))
}

/** Policies that flag, and so leave it to the origin: a proxy has no code of the user's own that reads decisions. */
export function configNotices(config: Config, layers: readonly Layer[]): readonly ConfigFault[] {
  return policiesOf(config).flatMap(({ policy, path }) => {
    const ids = flaggingRules(policy)
    if (ids.length === 0) return []
    const message = `these rules only flag: ${ids.join(', ')}. A flag stops no request: act on the header sallyport-action, or write a rule that refuses`
    return [located({ path, message }, config, layers)]
  })
}

/** Every policy: that of all, and those of routes. */
function policiesOf({ policy, routes }: Config) {
  const own = routes.flatMap(({ policy }, at) =>
    policy === undefined ? [] : [{ policy, path: ['routes', at, 'policy'] }],
  )
  return [{ policy, path: ['policy'] }, ...own]
}

/** The error of the one that reads such a value; it begins with the key, which is said apart. */
function tried(path: readonly PropertyKey[], read: () => unknown): readonly LocatedFault[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return [{ path, message: error.message.replace(/^[\w.-]+: /, '') }]
  }
}

export function located({ path, message, rule }: LocatedFault, values: unknown, layers: readonly Layer[]): ConfigFault {
  const place = placeOf(layers, path)
  const id = rule ?? ruleAt(path, values)
  return {
    ...(place && { place }),
    ...(path.length > 0 && { key: path.map(String).join('.') }),
    ...(id !== undefined && { rule: id }),
    message,
  }
}

/** The id of the rule that a path leads into. */
function ruleAt(path: readonly PropertyKey[], values: unknown): string | undefined {
  const at = path.findIndex((step, index) => step === 'rules' && typeof path[index + 1] === 'number')
  const id = at < 0 ? undefined : valueAt(values, [...path.slice(0, at + 2), 'id'])
  return typeof id === 'string' ? id : undefined
}
