import { type ChallengeLevel, type Mode, type MountPolicy, strictest, type Writable } from '@sallyport/core'
import type { Timeouts } from '@sallyport/engine/limits'
import type { Decider } from '@sallyport/node'
import type { HeadFault } from '@sallyport/node/internal'
import type { SideTimes } from '../exchange/exchange.ts'
import { originAddress, readTrust } from '../origin/address.ts'
import type { HealthOptions } from '../origin/health-checks.ts'
import { type Origin, type OriginOptions, openOrigin } from '../origin/origin.ts'
import { createDeciders, createOriginQuestions, type DecidingPart } from './deciders.ts'
import { createRoutes, type RouteMatch } from './routes.ts'

/** Time limits for an origin, in milliseconds; an absent limit is the proxy's. */
export type RouteTimeouts = Partial<Pick<Timeouts, 'originConnect' | 'originHeaders' | 'idleBody'>>

/** A part of the served sites: where its requests go, and how they are treated. */
export interface Route extends RouteMatch {
  /** Servers that take turns: `http(s)://host[:port]` or `unix:/path`; absent: the servers of the next matching route. */
  readonly upstreams?: readonly string[] | undefined
  /** Whether answers may pause without limit. */
  readonly stream?: boolean | undefined
  /** `origin` sends each server its own name as Host; the default `client` sends the Host of the client. */
  readonly hostHeader?: 'client' | 'origin' | undefined
  /** File in PEM with the authorities that may sign certificates of https servers; absent: those that Node trusts. */
  readonly ca?: string | undefined
  /** Absent: servers are not checked, and are left out only after failures. */
  readonly health?: HealthOptions | undefined
  readonly timeouts?: { readonly [Key in keyof RouteTimeouts]: RouteTimeouts[Key] | undefined } | undefined
  /** Replaces the policy for all sites. */
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** Says how to treat the requests of one site. */
export interface Site {
  /** Absent: there is no origin, and nothing is forwarded. */
  readonly origin: Origin | undefined
  readonly ownHost: boolean
  /** The name of the site, where a route has one without a wildcard. */
  readonly host?: string | undefined
  readonly stream: boolean
  readonly timeouts: RouteTimeouts
  /** Holds the same times, by the side that is awaited. */
  readonly times: SideTimes
  readonly decider: DecidingPart
  /** Decides about an origin's answer that requires a pass of a level, in the site's mode; `undefined`: no client can be challenged. */
  stepUp(level: ChallengeLevel): DecidingPart | undefined
  /** Whether servers may read several paths from the target, which belong to different origins. */
  readonly ambiguous: boolean
}

export interface SitesOptions extends Omit<OriginOptions, 'trust' | 'health'> {
  /** The origin of requests without a route; absent: such requests get 404. */
  readonly upstream?: string | undefined
  readonly routes?: readonly Route[] | undefined
}

type Opened = Omit<Route, 'timeouts'> & { readonly origin: Origin | undefined; readonly timeouts: RouteTimeouts }

/** Finds the site of each request. */
export type Sites = ReturnType<typeof openSites>

/** Refuses a target that belongs to one origin as written, and to another as some server reads it. */
export const SEVERAL_ORIGINS: HeadFault = {
  status: 400,
  reason: 'The target is ambiguous: servers can read it as paths of several origins.',
}

/** Opens the origins of routes; throws `invalid_config` and `invalid_policy`, and then leaves no origin open. */
export function openSites(host: Decider, options: SitesOptions) {
  const origins: Origin[] = []
  try {
    return buildSites(host, options, origins)
  } catch (error) {
    for (const origin of origins) void origin.close()
    throw error
  }
}

/** Adds each opened origin to `origins`. */
function buildSites(host: Decider, options: SitesOptions, origins: Origin[]) {
  const { upstream, routes = [], onNotice } = options
  const listed: readonly Route[] = upstream === undefined ? routes : [...routes, { upstreams: [upstream] }]
  const opened: readonly Opened[] = listed.map((route, at) => {
    const key = at === routes.length ? 'upstream' : `routes.${at}`
    return { ...route, origin: buildOrigin(route, key), timeouts: readTimeouts(route) }
  })
  const found = createRoutes(opened)
  const namesHosts = routes.some(({ host }) => host !== undefined)

  function buildOrigin(route: Route, key: string): Origin | undefined {
    const { upstreams, ca, health } = route
    if (upstreams === undefined || upstreams.length === 0) return undefined
    const named = key === 'upstream' ? key : `${key}.upstreams`
    const addresses = upstreams.map((text) => originAddress(text, named))
    const trust = readTrust(ca, `${key}.ca`)
    const timeouts = { ...options.timeouts, ...readTimeouts(route) }
    const origin = openOrigin(addresses, { ...options, timeouts, trust, health })
    origins.push(origin)
    return origin
  }

  const findDecider = createDeciders(host.decider?.bind(host), {
    decide: (request) => host.decide(request),
    readsCalls: (request) => host.readsCalls?.(request) === true,
  })
  for (const [at, route] of opened.entries()) findDecider([route], `routes.${at}`)

  const questions = createOriginQuestions(findDecider, onNotice)
  const originFor = (near: readonly Opened[]): Origin | undefined =>
    near.find(({ origin }) => origin !== undefined)?.origin

  /** Combines the settings of the nearest routes: each adds what nearer routes do not set. */
  const buildSite = (near: readonly Opened[]): Site => {
    const ownHost = near.find(({ hostHeader }) => hostHeader !== undefined)?.hostHeader === 'origin'
    const own: RouteTimeouts = Object.assign({}, ...near.map(({ timeouts }) => timeouts).toReversed())
    return {
      origin: originFor(near),
      ownHost,
      host: ownHost ? undefined : findHostName(near),
      stream: near[0]?.stream ?? false,
      timeouts: own,
      times: splitTimes(own),
      decider: findDecider(near),
      stepUp: (level) => questions(level, near),
      ambiguous: false,
    }
  }
  const everything = buildSite(opened)

  /** Returns a site that decides by all routes that a target may be read as; the path as written chooses the origin. */
  const addReadings = (site: Site, host: string, target: string): Site => {
    const readings = found.readings(host, target)
    if (readings.length === 0) return site
    const deciding = new Set([site.decider, ...readings.map(({ routes }) => findDecider(routes))])
    const ambiguous = readings.some(({ routes, exact }) => exact && originFor(routes) !== site.origin)
    return { ...site, ambiguous, decider: findStrictest([...deciding]) }
  }
  return {
    /** Returns `undefined` where routes name hosts, and none of them matches. */
    of(host: string, target: string): Site | undefined {
      if (routes.length === 0) return everything
      const near = found.find(host, target)
      return near === undefined && namesHosts ? undefined : addReadings(buildSite(near ?? []), host, target)
    },
    /** Whether routes name hosts; else every Host is served. */
    namesHosts,
    origins: origins as readonly Origin[],
  }
}

/** Returns a decider that decides as the strictest of several deciders. */
function findStrictest(deciders: readonly DecidingPart[]): DecidingPart {
  const [first, ...others] = deciders
  if (first === undefined || others.length === 0) return first as DecidingPart
  return {
    readsCalls: (request) => deciders.some((decider) => decider.readsCalls?.(request)),
    decide: (request) => strictest([first.decide(request), ...others.map((other) => other.decide(request))]),
    get opening() {
      return deciders.find(({ opening }) => opening)?.opening
    },
  }
}

/** Returns the name by which an origin knows the nearest route; `undefined` where it has no name, or a wildcard. */
function findHostName(near: readonly RouteMatch[]): string | undefined {
  const host = near.find(({ host }) => host !== undefined)?.host?.toLowerCase()
  return host?.startsWith('*') ? undefined : host
}

/** Drops time limits that are undefined. */
function readTimeouts({ timeouts = {} }: Route): RouteTimeouts {
  return Object.fromEntries(Object.entries(timeouts).filter(([, time]) => time !== undefined))
}

/** Returns the site's own times, by the side that is awaited. */
function splitTimes({ idleBody, originHeaders }: RouteTimeouts): SideTimes {
  const times: Writable<SideTimes> = {}
  if (originHeaders !== undefined) times.head = times.upload = times.answer = originHeaders
  if (idleBody !== undefined) times.upload = times.answer = Math.max(idleBody, originHeaders ?? 0)
  return times
}
