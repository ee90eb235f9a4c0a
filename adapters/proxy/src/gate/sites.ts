import { type ChallengeLevel, type Mode, type MountPolicy, strictest, type Writable } from '@sallyport/core'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import type { Decider } from '@sallyport/node'
import type { HeadFault } from '@sallyport/node/internal'
import type { Watched } from '../exchange/clocks.ts'
import { originAddress } from '../origin/address.ts'
import type { HealthOptions } from '../origin/health-checks.ts'
import { type Origin, openOrigin } from '../origin/origin.ts'
import { readTrust } from '../origin/trust.ts'
import type { OriginTurns } from '../origin/turns.ts'
import { createDeciders, type DecidingPart } from './deciders.ts'
import { createOriginQuestions } from './origin-questions.ts'
import { createRoutes, type RouteMatch } from './routes.ts'

/** Times that an origin has, in milliseconds; those that are absent are the proxy's. */
export type RouteTimeouts = Partial<Pick<Timeouts, 'originConnect' | 'originHeaders' | 'idleBody'>>

/** A part of the sites that are served: where its requests go, and how they are treated. */
export interface Route extends RouteMatch {
  /** Servers that take turns: `http(s)://host[:port]` or `unix:/path`; absent: those of the next route that fits. */
  readonly upstreams?: readonly string[] | undefined
  /** Answers may pause for as long as they like. */
  readonly stream?: boolean | undefined
  /** `origin`: each server is asked by its own name; default `client`: by the one that the client asked for. */
  readonly hostHeader?: 'client' | 'origin' | undefined
  /** File of the authorities of https servers, in PEM; absent: those that Node trusts. */
  readonly ca?: string | undefined
  /** Absent: servers are not asked, and only left out where they have failed. */
  readonly health?: HealthOptions | undefined
  readonly timeouts?: { readonly [Key in keyof RouteTimeouts]: RouteTimeouts[Key] | undefined } | undefined
  /** Policy in place of the one for all. */
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** The site of a request. */
export interface Site {
  /** Absent: there is no origin, and nothing is forwarded. */
  readonly origin: Origin | undefined
  readonly ownHost: boolean
  /** Its name, where a route has one without a star. */
  readonly host?: string | undefined
  readonly stream: boolean
  readonly timeouts: RouteTimeouts
  /** The same, by the side that is waited for. */
  readonly times: NonNullable<Watched['times']>
  readonly decider: DecidingPart
  /** Decides whom an answer of the origin asks for a pass of a level, in the mode of the site; `undefined`: nobody can be. */
  stepUp(level: ChallengeLevel): DecidingPart | undefined
  /** Servers may read several paths from the target, which belong to different origins. */
  readonly ambiguous: boolean
}

export interface SitesOptions {
  /** The short form of one route for all that no other has. */
  readonly upstream: string | undefined
  readonly routes: readonly Route[]
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly decider: Decider['decider']
  /** Decides by the policy of all. */
  readonly decide: Decider['decide']
  readonly onNotice?: ((message: string) => void) | undefined
  readonly turns?: OriginTurns | undefined
}

/** A route with its servers. */
type Opened = Omit<Route, 'timeouts'> & { readonly origin: Origin | undefined; readonly timeouts: RouteTimeouts }

/** All that is served. */
export interface Sites {
  /** `undefined` where routes name hosts, and none of them is this one. */
  of(host: string, target: string): Site | undefined
  /** Whether routes name hosts; else every Host is ours. */
  readonly namesHosts: boolean
  readonly origins: readonly Origin[]
}

/** The fault of a target that belongs to one origin as it is written, and to another as some server reads it. */
export const SEVERAL_ORIGINS: HeadFault = {
  status: 400,
  reason: 'The target is ambiguous: servers read paths of several origins.',
}

/** Opens the origins of routes; throws `invalid_config` and `invalid_policy`, and then none is left open. */
export function openSites(options: SitesOptions): Sites {
  const origins: Origin[] = []
  try {
    return sitesOf(options, origins)
  } catch (error) {
    for (const origin of origins) void origin.close()
    throw error
  }
}

/** `origins` gets each one that is opened. */
function sitesOf(
  { upstream, routes, limits, timeouts, decider, decide, onNotice, turns }: SitesOptions,
  origins: Origin[],
): Sites {
  const listed: readonly Route[] = upstream === undefined ? routes : [...routes, { upstreams: [upstream] }]
  const opened: readonly Opened[] = listed.map((route, at) => {
    const key = at === routes.length ? 'upstream' : `routes.${at}`
    return { ...route, origin: originOf(route, key), timeouts: timesOf(route) }
  })
  const found = createRoutes(opened)
  const namesHosts = routes.some(({ host }) => host !== undefined)

  function originOf(route: Route, key: string): Origin | undefined {
    const { upstreams, ca, health } = route
    if (upstreams === undefined || upstreams.length === 0) return undefined
    const named = key === 'upstream' ? key : `${key}.upstreams`
    const addresses = upstreams.map((text) => originAddress(text, named))
    const trust = readTrust(ca, `${key}.ca`)
    const times = { ...timeouts, ...timesOf(route) }
    const origin = openOrigin(addresses, { limits, timeouts: times, trust, health, onNotice, turns })
    origins.push(origin)
    return origin
  }

  const all: DecidingPart = { decide }
  const deciders = createDeciders(decider, all)
  for (const [at, route] of opened.entries()) deciders.of([route], `routes.${at}`)

  const questions = createOriginQuestions(deciders, onNotice)
  const originFor = (near: readonly Opened[]): Origin | undefined =>
    near.find(({ origin }) => origin !== undefined)?.origin

  /** Settings of the nearest routes: each adds what the nearer ones do not say. */
  const siteOf = (near: readonly Opened[]): Site => {
    const own: RouteTimeouts = Object.assign({}, ...near.map(({ timeouts }) => timeouts).toReversed())
    return {
      origin: originFor(near),
      ownHost: near.find(({ hostHeader }) => hostHeader !== undefined)?.hostHeader === 'origin',
      host: nameOf(near),
      stream: near[0]?.stream ?? false,
      timeouts: own,
      times: sidesOf(own),
      decider: deciders.of(near),
      stepUp: (level) => questions(level, near),
      ambiguous: false,
    }
  }
  const everything = siteOf(opened)

  /** Returns a site that decides by all routes that a target may be read as; the origin is that of the path as it is written. */
  const withReadings = (site: Site, host: string, target: string): Site => {
    const readings = found.readings(host, target)
    if (readings.length === 0) return site
    const deciding = new Set([site.decider, ...readings.map(({ routes }) => deciders.of(routes))])
    const ambiguous = readings.some(({ routes, exact }) => exact && originFor(routes) !== site.origin)
    return { ...site, ambiguous, decider: strictestOf([...deciding]) }
  }
  return {
    of(host, target) {
      if (routes.length === 0) return everything
      const near = found.find(host, target)
      return near === undefined && namesHosts ? undefined : withReadings(siteOf(near ?? []), host, target)
    },
    namesHosts,
    origins,
  }
}

/** Returns a decider that decides as the strictest of several. */
function strictestOf(deciders: readonly DecidingPart[]): DecidingPart {
  const [first, ...others] = deciders
  if (first === undefined || others.length === 0) return first as DecidingPart
  return { decide: (request) => strictest([first.decide(request), ...others.map((other) => other.decide(request))]) }
}

/** The name by which an origin knows the nearest route; none where it is asked by its own, or by any. */
function nameOf(near: readonly Route[]): string | undefined {
  if (near.find(({ hostHeader }) => hostHeader !== undefined)?.hostHeader === 'origin') return undefined
  const host = near.find(({ host }) => host !== undefined)?.host?.toLowerCase()
  return host?.startsWith('*') ? undefined : host
}

/** Those that are named. */
function timesOf({ timeouts = {} }: Route): RouteTimeouts {
  return Object.fromEntries(Object.entries(timeouts).filter(([, time]) => time !== undefined))
}

/** Times of a site's own by the side that is waited for. */
function sidesOf({ idleBody, originHeaders }: RouteTimeouts): Site['times'] {
  const times: Writable<Site['times']> = {}
  if (originHeaders !== undefined) times.head = times.upload = times.answer = originHeaders
  if (idleBody !== undefined) times.upload = times.answer = Math.max(idleBody, originHeaders ?? 0)
  return times
}
