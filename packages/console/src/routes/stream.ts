import { SallyportError } from '@sallyport/core'
import type { Remembered } from '../history/recent.ts'
import { SECURITY } from '../http/reply.ts'
import { briefOf, filterOf } from './brief.ts'
import type { Call, ConsoleParts } from './route.ts'

const MAX_STREAMS = 16
/** Under load a part is shown, and how many there were is said. */
const TURN_MS = 250
const MAX_A_TURN = 8
/** Of what a reader has not taken yet, in bytes. */
const MAX_BUFFERED = 262_144
const SILENT_TURNS = 60

/** Sends requests as they end, as server-sent events: `requests` are some of them, with how many there were. */
export function answerStream(
  { request, response, query, visitor }: Call,
  { history, sallyport }: ConsoleParts,
  streams: { open: number },
): undefined {
  if (request.method === 'HEAD') throw new SallyportError('method_not_allowed')
  if (streams.open >= MAX_STREAMS) throw new SallyportError('service_unavailable', 'Too many streams are open.')
  const filter = filterOf(query)
  let waiting: Remembered[] = []
  let seen = 0
  let silent = 0

  const forget = history.follow((one) => {
    if (!filter(one, sallyport.config.log.addresses)) return
    seen++
    if (waiting.length < MAX_A_TURN) waiting.push(one)
  })
  const timer = setInterval(() => {
    if (visitor.until !== undefined && visitor.until <= Date.now()) response.end()
    else if (seen > 0) {
      const form = sallyport.config.log.addresses
      const shown = response.writableLength > MAX_BUFFERED ? [] : waiting.map((one) => briefOf(one, form))
      response.write(`event: requests\ndata: ${JSON.stringify({ seen, shown })}\n\n`)
      silent = 0
    } else if (++silent >= SILENT_TURNS) {
      response.write(': still here\n\n')
      silent = 0
    }
    waiting = []
    seen = 0
  }, TURN_MS)
  timer.unref()

  streams.open++
  response.once('close', () => {
    streams.open--
    clearInterval(timer)
    forget()
  })
  response.writeHead(200, { ...SECURITY, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  response.write('retry: 2000\n\n')
  return undefined
}
