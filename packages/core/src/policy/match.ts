import { isNamed } from '../address/forwarding.ts'
import type { Inspection } from '../values/inspection.ts'
import type { Action, Degraded } from '../vocabulary.ts'
import type { Test } from './evaluate.ts'
import { compilePaths } from './path-test.ts'
import type { Bounds, Match } from './policy.ts'
import { createPathSplitter, type PathSplitter } from './split-path.ts'
import { compileSpan } from './time-span.ts'

/** The tests of a rule: all of them must hold. */
export interface CompiledMatch {
  readonly data: readonly Test[]
  /** The sub-lookups that `data` asks about. */
  readonly needs: readonly Degraded[]
  readonly agent: readonly Test[]
  readonly request: readonly Test[]
}

/** Sets are built once. Every value of the match has been checked. */
export function compileMatch(match: Match, action: Action, splitter = createPathSplitter()): CompiledMatch {
  const network = networkTests(match)
  const country = countryTests(match)
  return {
    data: [...network, ...country],
    needs: [...(network.length > 0 ? (['asn'] as const) : []), ...(country.length > 0 ? (['geo'] as const) : [])],
    agent: [...agentTests(match, action), ...claimTests(match, action)],
    request: requestTests(match, action, splitter),
  }
}

function networkTests({ networkClass, networkConfidence, asn, provider }: Match): readonly Test[] {
  const tests: Test[] = []
  if (networkClass !== undefined) {
    const classes = new Set<string>(networkClass)
    tests.push(({ network }) => classes.has(network.verdict.classification))
  }
  if (networkConfidence !== undefined) {
    const isWithin = boundsTest(networkConfidence)
    tests.push(({ network }) => isWithin(network.verdict.confidence))
  }
  if (asn !== undefined) {
    const asns = new Set(asn)
    tests.push(({ network }) => network.asn !== undefined && asns.has(network.asn))
  }
  if (provider !== undefined) {
    const providers = foldedSet(provider)
    tests.push(({ network }) => network.provider !== '' && providers.has(network.provider.toLowerCase()))
  }
  return tests
}

function boundsTest({ atLeast = 0, atMost = 1 }: Bounds): (value: number) => boolean {
  return (value) => value >= atLeast && value <= atMost
}

function countryTests({ country }: Match): readonly Test[] {
  if (country === undefined) return []
  const countries = new Set(country)
  return [(inspection) => countries.has(inspection.country ?? 'unknown')]
}

function requestTests(
  { method, path, header, time, user, plan }: Match,
  action: Action,
  splitter: PathSplitter,
): readonly Test[] {
  const tests: Test[] = [...requesterTests(user, (inspection) => inspection.user)]
  tests.push(...requesterTests(plan, (inspection) => inspection.plan))
  if (method !== undefined) {
    const methods = new Set(method.map((name) => name.toUpperCase()))
    tests.push(({ request }) => methods.has(request.method))
  }
  if (path !== undefined) {
    const matches = compilePaths(path, action === 'allow', splitter)
    tests.push(({ request }) => matches(request))
  }
  if (header !== undefined) {
    const present = (header.present ?? []).map((name) => name.toLowerCase())
    const absent = (header.absent ?? []).map((name) => name.toLowerCase())
    tests.push((_, fields) => {
      for (const name of present) if (!hasField(fields, name)) return false
      for (const name of absent) if (hasField(fields, name)) return false
      return true
    })
  }
  if (time !== undefined) {
    const within = compileSpan(time)
    if (typeof within === 'function') tests.push(({ at }) => within(at))
  }
  return tests
}

/** What the application says of who asks can be another thing at each request. */
function requesterTests(
  names: readonly string[] | undefined,
  read: (inspection: Inspection) => string | undefined,
): readonly Test[] {
  if (names === undefined) return []
  const wanted = new Set(names)
  const any = wanted.has('*')
  return [
    (inspection) => {
      const name = read(inspection)
      return name !== undefined && (any || wanted.has(name))
    },
  ]
}

function hasField(fields: readonly string[], name: string): boolean {
  for (let at = 0; at < fields.length; at += 2) if (isNamed(fields[at] as string, name)) return true
  return false
}

function agentTests(match: Match, action: Action): readonly Test[] {
  const { class: classes, basis, headless, confidence, vendor, identity } = match
  const tests: Test[] = []
  if (classes !== undefined) tests.push(({ agent }) => classes.includes(agent.class))
  if (basis !== undefined) tests.push(({ agent }) => basis.includes(agent.basis))
  if (headless !== undefined) tests.push(({ agent }) => agent.headless === headless)
  if (confidence !== undefined) {
    const isWithin = boundsTest(confidence)
    tests.push(({ agent }) => isWithin(agent.confidence))
  }
  if (identity !== undefined) {
    const any = identity.includes('*')
    tests.push(({ agent }) => agent.identity?.verified === true && (any || identity.includes(agent.identity.name)))
  }
  if (vendor !== undefined) {
    const vendors = foldedSet(vendor)
    tests.push(({ agent }) => {
      if (agent.ai === undefined || !mayRestOn(agent.identity?.verified === true, action)) return false
      return vendors.has(agent.ai.vendor.toLowerCase())
    })
  }
  return tests
}

/** The members about crawlers: the claim of the user agent; operator and purpose also by signature. */
function claimTests(match: Match, action: Action): readonly Test[] {
  const { crawler: slugs, crawlerOutcome: outcomes, operator: operators, purpose: purposes } = match
  const tests: Test[] = []
  if (outcomes !== undefined) tests.push(({ crawler }) => crawler !== undefined && outcomes.includes(crawler.outcome))
  if (slugs !== undefined) {
    tests.push(({ crawler }) => {
      if (crawler === undefined || !mayRestOn(crawler.outcome === 'verified', action)) return false
      return slugs.includes(crawler.slug)
    })
  }
  if (operators !== undefined) {
    tests.push(({ agent }) => {
      if (agent.operator === undefined || !mayRestOn(agent.identity?.verified === true, action)) return false
      return operators.includes(agent.operator)
    })
  }
  if (purposes !== undefined) {
    const wanted = new Set<string>(purposes)
    tests.push(({ agent }) => {
      if (agent.purpose === undefined || !mayRestOn(agent.identity?.verified === true, action)) return false
      return wanted.has(agent.purpose)
    })
  }
  return tests
}

/** Anybody can claim a name: a mere claim earns no permission. */
function mayRestOn(verified: boolean, action: Action): boolean {
  return verified || action !== 'allow'
}

function foldedSet(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()))
}
