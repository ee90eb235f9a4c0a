import { DURATION, parseDuration, SallyportError } from '@sallyport/core'
import { z } from 'zod'

/** What the documents say of a key, beside its schema. */
export interface KeyNote {
  readonly unit: string
  readonly least: string
  readonly most: string
  readonly initial: string
  readonly description: string
}

/** A length of time, written with its unit; a number is milliseconds. */
export function time(initial: string, bounds: readonly [string, string], description: string) {
  const [least, most] = bounds
  return timeOf(bounds)
    .prefault(initial)
    .meta({ unit: 'time', least, most, initial, description } satisfies KeyNote)
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

function whole(initial: number, [least, most]: readonly [number, number], unit: string, description: string) {
  const note: KeyNote = { unit, least: String(least), most: String(most), initial: String(initial), description }
  return z
    .int()
    .min(least)
    .max(most)
    .default(initial)
    .meta({ ...note })
}

/** How much of what the proxy bears, of all clients and of one. A client is an address, or a network of IPv6. */
export const Limits = z.strictObject({
  ipv6Prefix: whole(64, [32, 128], 'bits', 'of an IPv6 address that are one client'),
  connections: whole(10_000, [1, 1_000_000], 'connections', 'to the proxy at one time'),
  connectionsPerClient: whole(256, [1, 1_000_000], 'connections', 'of one client; trusted proxies are not counted'),
  pipelined: whole(16, [0, 1_000], 'requests', 'of one connection that wait for the answers before them'),
  inFlight: whole(4_096, [1, 1_000_000], 'requests', 'in flight at one time'),
  inFlightPerClient: whole(64, [1, 1_000_000], 'requests', 'of one client in flight'),
  tunnels: whole(2_000, [1, 1_000_000], 'tunnels', 'WebSockets and handshakes for them at one time'),
  tunnelsPerClient: whole(64, [1, 1_000_000], 'tunnels', 'of one client'),
  originConnections: whole(128, [1, 10_000], 'connections', 'to the origin of one route at one time'),
  originQueue: whole(1_024, [0, 1_000_000], 'requests', 'that wait for a connection to the origin'),
  bodyBytes: whole(10_485_760, [0, 1_099_511_627_776], 'bytes', 'of the body of a request'),
  bufferedBytes: whole(67_108_864, [65_536, 1_099_511_627_776], 'bytes', 'of bodies held at one time'),
  eventLoopDelay: time('500ms', ['20ms', '1m'], 'the event loop may be late before requests are shed'),
  heapUsed: z
    .number()
    .min(0.1)
    .max(1)
    .default(0.9)
    .meta({
      ...{ unit: 'share', least: '0.1', most: '1', initial: '0.9' },
      description: 'of the heap that may be in use before requests are shed',
    } satisfies KeyNote),
})

/** How long the proxy waits, and for whom. None bounds a whole request: bytes that flow are let flow. */
export const Timeouts = z.strictObject({
  clientHello: time('5s', ['10ms', '10m'], 'for the first bytes of TLS, until it is known who the client is'),
  handshake: time('10s', ['10ms', '10m'], 'for the rest of a TLS handshake'),
  header: time('10s', ['10ms', '10m'], 'for the head of a request, or of a PROXY header'),
  keepAlive: time('15s', ['10ms', '1h'], 'for the next request of a connection'),
  idleBody: time('30s', ['10ms', '1h'], 'for bytes of a body, from the client or from the origin'),
  clientUnread: time('2m', ['10ms', '1h'], 'for a client that does not read its answer'),
  minRate: whole(500, [0, 1_000_000_000], 'bytes a second', 'of a client that we wait for, over those two times'),
  originConnect: time('2s', ['10ms', '10m'], 'for a connection to the origin'),
  originHeaders: time('30s', ['10ms', '1h'], 'for the head of an answer, or the answer to a handshake'),
  tunnelIdle: time('5m', ['10ms', '24h'], 'for bytes in a tunnel'),
  counting: time('20ms', ['1ms', '10s'], 'for the counts of rules in Redis; then a share is counted here'),
  queue: time('5s', ['0ms', '10m'], 'in a queue, beyond a limit on what is in flight'),
  drain: time('10s', ['0ms', '1h'], 'for requests in flight, and for one more on each idle connection, at the end'),
  lameDuck: time('0s', ['0s', '10m'], 'between being not ready and taking no new connection, at the end'),
})

/** What the servers of one route are waited for, where that is not as for all. */
export const RouteTimeouts = z.strictObject({
  originConnect: timeOf(['10ms', '10m']).optional().describe('for a connection to a server'),
  originHeaders: timeOf(['10ms', '1h']).optional().describe('for the head of an answer'),
  idleBody: timeOf(['10ms', '1h']).optional().describe('for a server that takes no more of a body, or sends no more'),
})

/** With every default filled in. */
export type Limits = z.output<typeof Limits>
/** In milliseconds but for `minRate`, with every default filled in. */
export type Timeouts = z.output<typeof Timeouts>

/** As a person writes them. */
export type LimitsInput = z.input<typeof Limits>
export type TimeoutsInput = z.input<typeof Timeouts>

/** Fills in what is absent; throws `invalid_config` that names the key. */
export function parseLimits(input: LimitsInput = {}): Limits {
  return parsed('limits', Limits.safeParse(input))
}

/** Fills in what is absent; throws `invalid_config` that names the key. */
export function parseTimeouts(input: TimeoutsInput = {}): Timeouts {
  return parsed('timeouts', Timeouts.safeParse(input))
}

function parsed<T>(name: string, result: z.ZodSafeParseResult<T>): T {
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SallyportError('invalid_config', `${[name, ...(issue?.path ?? [])].join('.')}: ${issue?.message}`)
}
