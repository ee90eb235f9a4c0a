import { setTimeout as delay } from 'node:timers/promises'
import { SallyportError } from '@sallyport/core'
import { nameReader } from '../access/door.ts'
import { SECURITY } from '../http/reply.ts'
import { type Share, takeNewest } from '../shares/share.ts'
import { type Brief, createFilter, type Filtered, type Filters, toBrief } from './brief.ts'
import type { Call, ConsoleParts } from './route.ts'

/** Limit the streams of one process: in total, for each role, and for each reader. */
const MAX_STREAMS = { admin: 32, steer: 28, read: 24, each: 4 } as const
/** Each turn shows only a part under load, and says how many requests there were. */
const TURN_MS = 250
const MAX_A_TURN = 8
/** Limits the bytes that a reader may leave unread; a slower reader is cut. */
const MAX_BUFFERED = 262_144
const SILENT_TURNS = 60
const RETRY_SECONDS = 2

/** Says where each process was in its requests at the last turn, by its id; an unnamed process begins now. */
type Places = Readonly<Record<string, number>>

/** The data of an event `requests`: how many have matched since the last event, and some of them. */
export interface StreamEvent {
  readonly seen: number
  readonly shown: readonly Brief[]
}

interface Streamed extends StreamEvent {
  readonly id: string
  readonly place: number
}

/** Lists requests since the last turn: how many match, and the first of them. */
export const STREAMED: Share<{ readonly filters: Filters; readonly places: Places }, Streamed> = {
  name: 'streamed',
  own({ filters, places }, { history: { recent }, sallyport, id }) {
    const form = sallyport.config.log.addresses
    const place = recent.count
    const fits = createFilter(filters)
    const found = recent.since(places[id] ?? place).filter((one) => fits(one, form))
    return { id, place, seen: found.length, shown: found.slice(0, MAX_A_TURN).map((one) => toBrief(one, form)) }
  },
}

/** Holds the open streams of this process, one entry each, by reader. */
export type OpenStreams = Set<{ readonly reader: string }>

/** Sends requests as they end, as server-sent events: `requests` contains some of them, and their number. */
export function answerStream(call: Call<Filtered>, parts: ConsoleParts, streams: OpenStreams): undefined {
  const { request, response, visitor } = call
  const reader = nameReader(request, visitor)
  const own = [...streams].filter((stream) => stream.reader === reader).length
  if (own >= MAX_STREAMS.each) {
    throw new SallyportError('rate_limit_exceeded', 'This session has four streams.', { retryAfter: RETRY_SECONDS })
  }
  if (streams.size >= MAX_STREAMS[visitor.role ?? 'read']) {
    throw new SallyportError('service_unavailable', 'Too many streams are open.')
  }
  const open = { reader }
  const closed = new AbortController()
  streams.add(open)
  response.once('close', () => {
    streams.delete(open)
    closed.abort()
  })
  response.writeHead(200, { ...SECURITY, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  response.write(`retry: ${RETRY_SECONDS * 1_000}\n\n`)
  // A failure ends the stream; the browser connects again.
  stream(call, parts, closed.signal).catch(() => response.destroy())
  return undefined
}

async function stream(call: Call<Filtered>, { gather }: ConsoleParts, ended: AbortSignal): Promise<void> {
  const { response, asked: filters } = call
  let places: Places = {}
  for (let silent = 0; !ended.aborted; ) {
    if (!call.isAdmitted()) return void response.end()
    if (response.writableLength > MAX_BUFFERED) return void response.destroy()
    const { shares } = await gather(STREAMED, { filters, places })
    places = { ...places, ...Object.fromEntries(shares.map(({ id, place }) => [id, place])) }
    const seen = shares.reduce((sum, share) => sum + share.seen, 0)
    if (seen > 0 && !ended.aborted) {
      const lists = shares.map(({ shown }) => shown)
      const shown = takeNewest(lists, MAX_A_TURN).toReversed()
      response.write(`event: requests\ndata: ${JSON.stringify({ seen, shown } satisfies StreamEvent)}\n\n`)
      silent = 0
    } else if (++silent >= SILENT_TURNS) {
      response.write(': still here\n\n')
      silent = 0
    }
    await delay(TURN_MS, undefined, { signal: ended, ref: false }).catch(() => {})
  }
}
