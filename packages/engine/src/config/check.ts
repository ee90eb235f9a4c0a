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
  rulesInForce,
  SallyportError,
} from '@sallyport/core'
import { resolveFeeds } from '#datasets/service'
import { listNames } from '#features/lists'
import { secretFault } from '#service'
import { type LocatedFault, parseHostPort } from '#settings'
import { decoyFaults, decoyWarnings } from './decoy-faults.ts'
import type { ConfigFault } from './faults.ts'
import { FEATURES } from './features.ts'
import type { Layer } from './layers.ts'
import { located } from './located.ts'
import type { Config } from './schema.ts'

function edgeFaults({ tls, http }: Config): readonly LocatedFault[] {
  if (http !== undefined && tls === undefined) {
    return [{ path: ['http'], message: 'is the plain HTTP listener beside TLS. Without tls, set listen instead' }]
  }
  if (tls !== undefined && tls.redirect !== false && http === undefined) {
    return [{ path: ['tls', 'redirect'], message: 'needs http, the plain listener to redirect. Add http: 0.0.0.0:80' }]
  }
  if (tls?.acme !== undefined && http === undefined) {
    return [{ path: ['tls', 'acme'], message: 'needs http, because the CA fetches its challenge on port 80' }]
  }
  if (tls !== undefined && tls.acme === undefined && tls.certificates.length === 0) {
    return [{ path: ['tls'], message: 'has neither certificates nor acme. Add one of them' }]
  }
  return []
}

/** Parts that serve trusted peers alone: without one every connection is cut, and every check is refused. */
function trustedFaults(config: Config): readonly LocatedFault[] {
  if (config.trustProxy.length > 0) return []
  const cure = 'add the address of the server in front to trustProxy'
  const message = `accepts only trusted proxies, but trustProxy is empty: ${cure}`
  const used = (['proxyProtocol', 'forwardAuth'] as const).filter((key) => config[key] !== false)
  return used.map((key) => ({ path: [key], message }))
}

/** Listeners that are one another's: only the first could be had. */
function listenerFaults(config: Config): readonly LocatedFault[] {
  const named = (['listen', 'http', 'admin'] as const).flatMap((key) => {
    const text = config[key]
    return text === undefined ? [] : [{ key, ...parseHostPort(text) }]
  })
  return named.flatMap(({ key, host, port }, at) => {
    const other = named.slice(0, at).find((one) => port !== 0 && one.port === port && isSameHost(one.host, host))
    return other === undefined ? [] : [{ path: [key], message: `is already the address of ${other.key}` }]
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
    ...trustedFaults(config),
    ...listenerFaults(config),
    ...decoyFaults(config),
    ...FEATURES.flatMap(({ faults }) => faults?.(config) ?? []),
    ...listPolicies(config).flatMap(({ policy, path }) =>
      policyFaults(policy, names).map((fault) => ({ ...fault, path: [...path, ...fault.path] })),
    ),
    ...secretFaults(config),
    ...trustFaults(config.trustProxy),
    ...tried(['clientHeader'], () => parseTrust([], config.clientHeader)),
    ...tried(['ja4Header'], () => parseTrust([], { ja4Header: config.ja4Header })),
    ...Object.entries(config.data.sources).flatMap(([id, source]) =>
      tried(['data', 'sources', id], () => resolveFeeds({ [id]: source })),
    ),
    ...sameIdFaults(config),
    ...config.handoff.keys.flatMap((key, index) => tried(['handoff', 'keys', index], () => createHandoffSigner([key]))),
    ...config.net.allowPrivate.flatMap((text, index) =>
      parsePrefix(text) === undefined
        ? [{ path: ['net', 'allowPrivate', index], message: `"${text}" is not a CIDR` }]
        : [],
    ),
  ]
  return found.map((fault) => located(fault, config, layers))
}

/** A signature names its key by the id. */
function sameIdFaults({ handoff }: Config): readonly LocatedFault[] {
  const ids = handoff.keys.map(({ id }) => id)
  return ids.flatMap((id, at) => {
    const message = `"${id}" is already the id of another key. Use a unique id`
    return ids.indexOf(id) === at ? [] : [{ path: ['handoff', 'keys', at, 'id'], message }]
  })
}

/** Tokens of which one does what another is for. */
function sameTokenWarnings({ console: { adminToken, steerToken, readToken } }: Config): readonly LocatedFault[] {
  const tokens = Object.entries({ adminToken, steerToken, readToken }).filter(([, token]) => token !== undefined)
  return tokens.flatMap(([name, token], at) => {
    const [other] = tokens.slice(0, at).find(([, one]) => one === token) ?? []
    const message = `is identical to ${other}, so both tokens grant both roles. Use different tokens`
    return other === undefined ? [] : [{ path: ['console', name], message }]
  })
}

function trustFaults(entries: readonly string[]): readonly LocatedFault[] {
  const found = entries.flatMap((entry, index) => tried(['trustProxy', index], () => parseTrust([entry])))
  return found.length > 0 ? found : tried(['trustProxy'], () => parseTrust(entries))
}

/** Presets and limits may ask too, so each policy is looked at as it is compiled, if it can be. */
function secretFaults(config: Config): readonly LocatedFault[] {
  if (config.challenge.secret !== undefined) return []
  const names = new Set(Object.keys(config.lists))
  const named = { lists: listNames(config) }
  const found = listPolicies(config)
    .filter(({ policy }) => policyFaults(policy, names).length === 0)
    .map(({ policy }) => secretFault(config, compilePolicy(policy, named)))
    .find((fault) => fault !== undefined)
  return found === undefined ? [] : [{ path: ['challenge', 'secret'], message: found }]
}

/** Limits of failures and pages where a server in front answers: Sallyport sees no answer there, and counts each request. */
function unseenWarnings(config: Config): readonly LocatedFault[] {
  if (config.forwardAuth === false) return []
  return listPolicies(config).flatMap(({ policy, path }) =>
    Object.entries(UNSEEN).flatMap(([count, { requests, cure }]) => {
      const rule = rulesInForce(policy).find(({ limit }) => limit?.count === count)
      if (rule === undefined) return []
      const found = `the rule "${rule.id}" counts every request${requests}, not ${count}s, because forwardAuth hides responses`
      return [{ path, message: `${found}; ${cure}` }]
    }),
  )
}

const UNSEEN = {
  failure: {
    requests: '',
    cure: 'proxy the logins through Sallyport, or raise max for people who share an address',
  },
  page: {
    requests: ' except static files',
    cure: "proxy the requests through Sallyport, or add rules that allow the paths that your pages' scripts call",
  },
}

/** Settings that are allowed and most likely not meant. */
export function configWarnings(config: Config, layers: readonly Layer[]): readonly ConfigFault[] {
  const found: LocatedFault[] = [
    ...listPolicies(config).flatMap(({ policy, path }) =>
      policyWarnings(policy).map((fault) => ({ ...fault, path: [...path, ...fault.path] })),
    ),
    ...unseenWarnings(config),
    ...decoyWarnings(config),
    ...FEATURES.flatMap(({ warnings }) => warnings?.(config) ?? []),
    ...sameTokenWarnings(config),
  ]
  return found.map((fault) => located(fault, config, layers))
}

/** Policies that flag, and so leave it to the origin: a proxy has no code of the user's own that reads decisions. */
export function configNotices(config: Config, layers: readonly Layer[]): readonly ConfigFault[] {
  return listPolicies(config).flatMap(({ policy, path }) => {
    const ids = flaggingRules(policy)
    if (ids.length === 0) return []
    const message = `these rules only flag: ${ids.join(', ')}. A flag blocks no request. Act on the header sallyport-action, or add a rule that blocks`
    return [located({ path, message }, config, layers)]
  })
}

export function listPolicies({ policy, routes }: Config) {
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
