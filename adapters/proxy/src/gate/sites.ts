import { type Mode, type MountPolicy, SallyportError } from '@sallyport/core'
import type { Decider } from '@sallyport/node'
import type { Limits, Timeouts } from '@sallyport/open/limits'
import { originAddress } from '../origin/address.ts'
import type { HealthOptions } from '../origin/health-checks.ts'
import { type Origin, openOrigin } from '../origin/origin.ts'
import { readTrust } from '../origin/trust.ts'
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
  /** What is decided by in place of the policy of all. */
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** What a request comes to. */
export interface Site {
  /** Absent: there is no origin, and nothing is forwarded. */
  readonly origin: Origin | undefined
  readonly ownHost: boolean
  readonly stream: boolean
  readonly timeouts: RouteTimeouts
  /** Absent: that of all. */
  readonly decider: Pick<Decider, 'decide'> | undefined
}

export interface SitesOptions {
  /** The short form of one route for all that no other has. */
  readonly upstream: string | undefined
  readonly routes: readonly Route[]
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly decider: Decider['decider']
  readonly onNotice?: ((message: string) => void) | undefined
}

/** All that is served. */
export interface Sites {
  /** `undefined` where routes name hosts, and none of them is this one. */
  of(host: string, target: string): Site | undefined
  readonly origins: readonly Origin[]
}

/** Opens the origins of routes; throws `invalid_config` and `invalid_policy`. */
export function openSites({ upstream, routes, limits, timeouts, decider, onNotice }: SitesOptions): Sites {
  const all: readonly Route[] = upstream === undefined ? routes : [...routes, { upstreams: [upstream] }]
  const opened = all.map((route, at) => {
    const key = at === routes.length ? 'upstream' : `routes.${at}`
    return { ...route, origin: originOf(route, key), timeouts: timesOf(route), decider: deciderOf(route, key) }
  })
  const found = createRoutes(opened)
  const namesHosts = routes.some(({ host }) => host !== undefined)

  function originOf(route: Route, key: string): Origin | undefined {
    const { upstreams, ca, health } = route
    if (upstreams === undefined || upstreams.length === 0) return undefined
    const named = key === 'upstream' ? key : `${key}.upstreams`
    const addresses = upstreams.map((text) => originAddress(text, named))
    const trust = readTrust(ca, `${key}.ca`)
    return openOrigin(addresses, { limits, timeouts: { ...timeouts, ...timesOf(route) }, trust, health, onNotice })
  }

  function deciderOf({ policy, mode }: Route, key: string): Site['decider'] {
    if (policy === undefined && mode === undefined) return undefined
    if (decider === undefined) throw new SallyportError('invalid_config', `${key}: there is no policy but one here`)
    return decider({ policy, mode })
  }

  /** What the nearest routes come to: what one does not say, the next one says. */
  const siteOf = (near: readonly (typeof opened)[number][]): Site => {
    const serving = near.find(({ origin }) => origin !== undefined)
    return {
      origin: serving?.origin,
      ownHost: near.find(({ hostHeader }) => hostHeader !== undefined)?.hostHeader === 'origin',
      stream: near[0]?.stream ?? false,
      timeouts: Object.assign({}, ...near.map(({ timeouts }) => timeouts).toReversed()),
      decider: near.find(({ decider }) => decider !== undefined)?.decider,
    }
  }
  const everything = siteOf(opened)
  return {
    of(host, target) {
      if (routes.length === 0) return everything
      const near = found.find(host, target)
      return near === undefined && namesHosts ? undefined : siteOf(near ?? [])
    },
    origins: opened.flatMap(({ origin }) => origin ?? []),
  }
}

/** Those that are named. */
function timesOf({ timeouts = {} }: Route): RouteTimeouts {
  return Object.fromEntries(Object.entries(timeouts).filter(([, time]) => time !== undefined))
}
