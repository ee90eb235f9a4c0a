import { DURATION, parseDuration, SallyportError } from '@sallyport/core'
import { z } from 'zod'
import { RESTART } from './key.ts'

/** A length of time, written with its unit; a number is milliseconds. */
export function time(initial: string, bounds: readonly [string, string], description: string, example: string) {
  const [least, most] = bounds
  return timeBetween(bounds).prefault(initial).meta({ unit: 'time', least, most, initial, description, example })
}

function timeBetween([least, most]: readonly [string, string]) {
  const [from, to] = [parseDuration(least) as number, parseDuration(most) as number]
  const error = `must be a time from ${least} to ${most}`
  return z
    .union([z.number().min(from, error).max(to, error), z.string().regex(DURATION, error)], { error })
    .transform((given, context) => {
      const value = typeof given === 'number' ? given : parseDuration(given)
      if (value !== undefined && value >= from && value <= to) return value
      context.issues.push({ code: 'custom', message: error, input: given })
      return z.NEVER
    })
}

function whole(
  initial: number,
  [least, most]: readonly [number, number],
  unit: string,
  description: string,
  example: number,
) {
  const bounds = { least: String(least), most: String(most), initial: String(initial) }
  return z
    .int()
    .min(least)
    .max(most)
    .default(initial)
    .meta({ ...bounds, unit, description, example })
}

function routeTime(bounds: readonly [string, string], description: string, example: string) {
  const [least, most] = bounds
  return timeBetween(bounds)
    .optional()
    .meta({ unit: 'time', least, most, description: `${description}; absent: as in timeouts`, example })
}

/** Bounds what the proxy accepts, from all clients and from one. A client is an address, or a network of IPv6. */
export const Limits = z.strictObject({
  connections: whole(10_000, [1, 1_000_000], 'connections', 'Open connections to the proxy', 50_000),
  connectionsPerClient: whole(
    256,
    [1, 1_000_000],
    'connections',
    'Open connections per client; trusted proxies are exempt',
    64,
  ),
  inFlight: whole(4_096, [1, 1_000_000], 'requests', 'Requests in flight', 1_000),
  inFlightPerClient: whole(100, [1, 1_000_000], 'requests', 'Requests in flight per client', 32),
  tunnels: whole(2_000, [1, 1_000_000], 'tunnels', 'Open WebSockets, including handshakes', 10_000),
  originConnections: whole(128, [1, 10_000], 'connections', 'Open connections to the origin per route', 256),
  bodyBytes: z.int().min(0).max(1_099_511_627_776).optional().meta({
    unit: 'bytes',
    least: '0',
    most: '1099511627776',
    description: 'Size of a request body; larger bodies get a 413; absent: any',
    example: 52_428_800,
  }),
  eventLoopDelay: time('500ms', ['20ms', '1m'], 'Event loop delay above which requests are shed', '250ms'),
})

/** Bounds how long the proxy waits. No timeout covers a whole request: bytes that arrive keep it open. */
export const Timeouts = z.strictObject({
  header: time('10s', ['10ms', '10m'], 'Time for a request head or PROXY header', '5s'),
  // A balancer in front must close its connections first: that of AWS does so after 60 s, and a request would otherwise meet our close.
  keepAlive: time('75s', ['10ms', '1h'], 'Time between requests on a connection', '15s'),
  idleBody: time('30s', ['10ms', '1h'], 'Time between bytes of a request body', '1m'),
  originConnect: time('2s', ['10ms', '10m'], 'Time to connect to the origin', '1s'),
  originHeaders: time(
    '5m',
    ['10ms', '1h'],
    'Time without bytes from the origin, or accepted by it, before a 504',
    '1m',
  ),
  tunnelIdle: time('5m', ['10ms', '24h'], 'Time between bytes in a tunnel', '15m'),
  counting: time(
    '20ms',
    ['1ms', '10s'],
    'Time for Redis to count for rules and /v1, tenfold if it has just answered; after that, this machine counts a share',
    '50ms',
  ).meta(RESTART),
  queue: time('5s', ['0ms', '10m'], 'Time that a request above an in-flight limit may queue', '1.5s'),
  drain: time(
    '10s',
    ['0ms', '1h'],
    'Time at shutdown for requests in flight, plus one request on each idle connection',
    '30s',
  ),
  lameDuck: time('0s', ['0s', '10m'], 'Time at shutdown between reporting unready and refusing connections', '5s'),
})

/** Replaces the timeouts for the servers of one route. */
export const RouteTimeouts = z.strictObject({
  originConnect: routeTime(['10ms', '10m'], 'Time to connect to a server', '1s'),
  originHeaders: routeTime(['10ms', '1h'], 'Time without bytes from a server', '15m'),
  idleBody: routeTime(['10ms', '1h'], 'Time between bytes of a body, in either direction', '15m'),
})

/** Bounds of the proxy that need only one value: they are not keys of the configuration, and a program may set them. */
const AllLimits = z.strictObject({
  ...Limits.shape,
  /** Requests that wait for a connection to the origin. */
  originQueue: z.int().min(0).default(1_024),
  /** Size of the head of an origin's response; a larger head causes a 502. */
  originHeadBytes: z.int().min(4_096).max(262_144).default(32_768),
  /** Requests of one connection that wait for earlier responses. */
  pipelined: z.int().min(0).default(16),
  tunnelsPerClient: z.int().min(1).default(64),
  /** Bytes of bodies held in memory at one time. */
  bufferedBytes: z.int().min(65_536).default(67_108_864),
  /** Share of the heap in use above which the proxy sheds requests. */
  heapUsed: z.number().min(0.1).max(1).default(0.9),
})
const AllTimeouts = z.strictObject({
  ...Timeouts.shape,
  /** Time for the first bytes of TLS, before the client is known. */
  clientHello: timeBetween(['10ms', '10m']).prefault('5s'),
  /** Time for the rest of a TLS handshake. */
  handshake: timeBetween(['10ms', '10m']).prefault('10s'),
  /** Time that a client may leave its response unread. */
  clientUnread: timeBetween(['10ms', '1h']).prefault('2m'),
  /** Counts bytes a second: a client that stays below this rate over `idleBody` or `clientUnread` is slow. */
  minRate: z.int().min(0).default(500),
})

/** Every default is filled in. */
export type Limits = z.output<typeof AllLimits>
/** Values are milliseconds except `minRate`, and every default is filled in. */
export type Timeouts = z.output<typeof AllTimeouts>

/** The values as operators write them. */
export type LimitsInput = z.input<typeof AllLimits>
export type TimeoutsInput = z.input<typeof AllTimeouts>

/** Fills in defaults; throws `invalid_config`, which names the key. */
export function parseLimits(input: LimitsInput = {}): Limits {
  return parsed('limits', AllLimits.safeParse(input))
}

/** Fills in defaults; throws `invalid_config`, which names the key. */
export function parseTimeouts(input: TimeoutsInput = {}): Timeouts {
  return parsed('timeouts', AllTimeouts.safeParse(input))
}

function parsed<T>(name: string, result: z.ZodSafeParseResult<T>): T {
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SallyportError('invalid_config', `${[name, ...(issue?.path ?? [])].join('.')}: ${issue?.message}`)
}
