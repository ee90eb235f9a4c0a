import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { Decision, HabitState } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import type { Step } from './model.ts'
import type { Recording } from './record.ts'
import { COOKIE, openStage } from './stage.ts'

export interface Visitor {
  /** Gives the address of each page, counted from 1; its files come from the same one. */
  readonly address: (page: number) => string
  /** It begins so many milliseconds after the clock does. */
  readonly begins: number
  readonly steps: Iterator<Step>
}

/** What the gate said of a page of a visitor. */
export interface PageSeen {
  readonly visitor: Visitor
  readonly at: number
  readonly status: number
  readonly decision: Decision
}

/** So long the gate waits before it counts what it noted. */
const COUNTED_MS = 100
/** The clock begins here, in milliseconds. */
const BEGIN = Date.UTC(2026, 10, 1)

/** A visitor on the way: its next request, and when it is due. */
interface Underway {
  readonly visitor: Visitor
  due: number
  step: Step
  page: number
  cookie: boolean
  address: string
  socket: Open | undefined
}

/** Sends all visitors' requests in the order of their times, over real sockets, by a jumping clock; resolves with what the gate learnt. */
export async function replayVisits(
  recording: Pick<Recording, 'site' | 'answers'>,
  visitors: readonly Visitor[],
  onPage: (page: PageSeen) => void,
  config?: Partial<ConfigInput>,
): Promise<readonly HabitState[]> {
  let time = BEGIN
  let last: Decision | undefined
  const { site, answers } = recording
  const stage = await openStage(site, {
    answers,
    config,
    onSeen({ decision }) {
      last = decision
    },
  })
  const waiting: Underway[] = []
  for (const visitor of visitors) {
    const { value: step } = visitor.steps.next()
    if (step !== undefined) {
      insert(waiting, {
        visitor,
        due: BEGIN + visitor.begins,
        step,
        page: 0,
        cookie: false,
        address: '',
        socket: undefined,
      })
    }
  }
  // Adapters read the time of a request from the process; what waits to be counted is counted before the clock jumps on.
  const { setTimeout: realTimeout } = globalThis
  const realNow = Date.now
  Date.now = () => time
  globalThis.setTimeout = ((work: () => void, wait?: number, ...more: []) =>
    realTimeout(work, wait === COUNTED_MS ? 0 : wait, ...more)) as typeof setTimeout
  try {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      time = Math.max(time, next.due)
      const { visitor, step } = next
      if (step.isPage) {
        const address = visitor.address(++next.page)
        if (address !== next.address) {
          next.socket?.close()
          next.socket = undefined
        }
        next.address = address
      }
      next.socket ??= openConnection(stage.plainUrl, next.address)
      const answer = await next.socket.ask(step, next.cookie && step.returns)
      if (answer.isCookieSet) next.cookie = true
      if (step.isPage && last !== undefined) {
        onPage({ visitor, at: time - BEGIN, status: answer.status, decision: last })
      }
      const { value } = visitor.steps.next()
      if (value === undefined) next.socket.close()
      else insert(waiting, Object.assign(next, { step: value, due: time + value.after }))
    }
    return stage.habits()
  } finally {
    Date.now = realNow
    globalThis.setTimeout = realTimeout
    await stage.close()
  }
}

interface Open {
  ask(step: Step, cookie: boolean): Promise<{ readonly status: number; readonly isCookieSet: boolean }>
  close(): void
}

/** Opens a connection on which the proxy in front named the address. */
function openConnection(url: string, address: string): Open {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = () => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true })
    socket.write(`PROXY TCP4 ${address} 127.0.0.1 40000 80\r\n`)
    return socket
  }
  return {
    ask: ({ method, target, fields }, cookie) =>
      new Promise((resolve, reject) => {
        const headers = ['Host', 'localhost', ...fields, ...(cookie ? ['Cookie', `${COOKIE}=1`] : [])]
        const sent = request(url, { agent, method, path: target, headers }, (got) => {
          got.resume().once('end', () => {
            const given = got.headers['set-cookie'] ?? []
            resolve({ status: got.statusCode ?? 0, isCookieSet: given.some((one) => one.startsWith(`${COOKIE}=`)) })
          })
        })
        sent.once('error', reject).end()
      }),
    close: () => agent.destroy(),
  }
}

/** Puts a visitor into its place among those that wait, of whom the next one is the last. */
function insert(waiting: Underway[], one: Underway): void {
  let [low, high] = [0, waiting.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((waiting[middle] as Underway).due > one.due) low = middle + 1
    else high = middle
  }
  waiting.splice(low, 0, one)
}
