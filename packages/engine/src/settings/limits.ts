import { DURATION, parseDuration, SallyportError } from '@sallyport/core'
import { z } from 'zod'
import { RESTART } from './key.ts'

/** Notes on a key in the documents, beside its schema. */
export interface KeyNote {
  readonly unit: string
  readonly least: string
  readonly most: string
  readonly initial: string
  readonly description: string
  readonly example: string | number
}

/** A length of time, written with its unit; a number is milliseconds. */
export function time(initial: string, bounds: readonly [string, string], description: string, example: string) {
  const [least, most] = bounds
  return timeOf(bounds)
    .prefault(initial)
    .meta({ unit: 'time', least, most, initial, description, example } satisfies KeyNote)
}

function timeOf([least, most]: readonly [string, string]) {
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
  const note: KeyNote = { ...bounds, unit, description, example }
  return z
    .int()
    .min(least)
    .max(most)
    .default(initial)
    .meta({ ...note })
}

function routeTime(bounds: readonly [string, string], description: string, example: string) {
  const [least, most] = bounds
  return timeOf(bounds)
    .optional()
    .meta({ unit: 'time', least, most, description: `${description}; absent: as for all`, example })
}

/** How much of what the proxy bears, of all clients and of one. A client is an address, or a network of IPv6. */
export const Limits = z.strictObject({
  // The API counts its clients by it from the start.
  ipv6Prefix: whole(64, [32, 128], 'bits', 'Bits of an IPv6 address that count as one client', 56).meta(RESTART),
  connections: whole(10_000, [1, 1_000_000], 'connections', 'Connections to the proxy at one time', 50_000),
  connectionsPerClient: whole(
    256,
    [1, 1_000_000],
    'connections',
    'Connections of one client; trusted proxies are not counted',
    64,
  ),
  inFlight: whole(4_096, [1, 1_000_000], 'requests', 'Requests in flight at one time', 1_000),
  inFlightPerClient: whole(100, [1, 1_000_000], 'requests', 'Requests in flight of one client', 32),
  tunnels: whole(2_000, [1, 1_000_000], 'tunnels', 'WebSockets and their handshakes at one time', 10_000),
  originConnections: whole(128, [1, 10_000], 'connections', 'Connections to the origin of one route at one time', 256),
  bodyBytes: z.int().min(0).max(1_099_511_627_776).optional().meta({
    unit: 'bytes',
    least: '0',
    most: '1099511627776',
    description: 'Size of the body of a request; beyond it is a 413; absent: any',
    example: 52_428_800,
  }),
  eventLoopDelay: time('500ms', ['20ms', '1m'], 'Delay of the event loop beyond which requests are shed', '250ms'),
})

/** How long the proxy waits, and for whom. None bounds a whole request: bytes that flow are let flow. */
export const Timeouts = z.strictObject({
  header: time('10s', ['10ms', '10m'], 'Time for the head of a request, or for a PROXY header', '5s'),
  // A balancer in front closes its connections first: that of AWS does so after 60 s, and would send a request into the end of ours.
  keepAlive: time('75s', ['10ms', '1h'], 'Time until the next request of a connection', '15s'),
  idleBody: time('30s', ['10ms', '1h'], 'Time between bytes of a body from the client', '1m'),
  originConnect: time('2s', ['10ms', '10m'], 'Time to connect to the origin', '1s'),
  originHeaders: time(
    '5m',
    ['10ms', '1h'],
    'Time that the origin may be silent, or take nothing of a body; beyond it is a 504',
    '1m',
  ),
  tunnelIdle: time('5m', ['10ms', '24h'], 'Time between bytes in a tunnel', '15m'),
  counting: time(
    '20ms',
    ['1ms', '10s'],
    'Time for Redis to count for rules and for /v1, ten times as long if it has just answered; then a share is counted here',
    '50ms',
  ).meta(RESTART),
  queue: time('5s', ['0ms', '10m'], 'Time in the queue, beyond a limit on requests in flight', '1.5s'),
  drain: time(
    '10s',
    ['0ms', '1h'],
    'Time at shutdown for requests in flight, and for one more on each idle connection',
    '30s',
  ),
  lameDuck: time('0s', ['0s', '10m'], 'Time at shutdown between being not ready and refusing new connections', '5s'),
})

/** Times of one route's servers, where they differ from those of all. */
export const RouteTimeouts = z.strictObject({
  originConnect: routeTime(['10ms', '10m'], 'Time to connect to a server', '1s'),
  originHeaders: routeTime(['10ms', '1h'], 'Time that a server may be silent', '15m'),
  idleBody: routeTime(['10ms', '1h'], 'Time between bytes of a body, to or from a server', '15m'),
})

/** Bounds of the proxy with one good value: they are no keys of the configuration. */
const AllLimits = z.strictObject({
  ...Limits.shape,
  originQueue: whole(1_024, [0, 1_000_000], 'requests', 'Requests that wait for a connection to the origin', 4_096),
  originHeadBytes: whole(
    32_768,
    [4_096, 262_144],
    'bytes',
    "Size of the head of an origin's answer; beyond it is a 502",
    65_536,
  ),
  pipelined: whole(16, [0, 1_000], 'requests', 'Requests of one connection that wait for the answers before them', 4),
  tunnelsPerClient: whole(64, [1, 1_000_000], 'tunnels', 'WebSockets and their handshakes of one client', 8),
  bufferedBytes: whole(
    67_108_864,
    [65_536, 1_099_511_627_776],
    'bytes',
    'Bytes of bodies held in memory at one time',
    134_217_728,
  ),
  heapUsed: z
    .number()
    .min(0.1)
    .max(1)
    .default(0.9)
    .meta({
      unit: 'share',
      least: '0.1',
      most: '1',
      initial: '0.9',
      description: 'Share of the heap in use beyond which requests are shed',
      example: 0.8,
    } satisfies KeyNote),
})
const AllTimeouts = z.strictObject({
  ...Timeouts.shape,
  clientHello: time('5s', ['10ms', '10m'], 'Time for the first bytes of TLS, before the client is known', '3s'),
  handshake: time('10s', ['10ms', '10m'], 'Time for the rest of a TLS handshake', '5s'),
  clientUnread: time('2m', ['10ms', '1h'], 'Time for a client that does not read its answer', '1m'),
  minRate: whole(
    500,
    [0, 1_000_000_000],
    'bytes a second',
    'Lowest rate of a slow client, over idleBody and clientUnread',
    1_000,
  ),
})

/** With every default filled in. */
export type Limits = z.output<typeof AllLimits>
/** In milliseconds but for `minRate`, with every default filled in. */
export type Timeouts = z.output<typeof AllTimeouts>

/** As a person writes them. */
export type LimitsInput = z.input<typeof AllLimits>
export type TimeoutsInput = z.input<typeof AllTimeouts>

/** Fills in what is absent; throws `invalid_config` that names the key. */
export function parseLimits(input: LimitsInput = {}): Limits {
  return parsed('limits', AllLimits.safeParse(input))
}

/** Fills in what is absent; throws `invalid_config` that names the key. */
export function parseTimeouts(input: TimeoutsInput = {}): Timeouts {
  return parsed('timeouts', AllTimeouts.safeParse(input))
}

function parsed<T>(name: string, result: z.ZodSafeParseResult<T>): T {
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SallyportError('invalid_config', `${[name, ...(issue?.path ?? [])].join('.')}: ${issue?.message}`)
}
