import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { EVENT_KINDS, type ServiceEvent, type SinkOutcome, type SinkPorts } from '#service'
import { type Delivery, openDelivery, sendOnce } from './delivery.ts'
import type { Message } from './message.ts'
import { createPacing, type Paced } from './pacing.ts'
import { createSpikeWatch } from './spike.ts'
import { type NotifyConfig, readTarget, type Target } from './target.ts'

export interface NotifyPorts extends SinkPorts {
  /** Pauses before retries; default: 2, 15 and 90 seconds. */
  readonly pausesMs?: readonly number[] | undefined
}

/** The part of a configuration that lists the places. */
export interface NotifySlice {
  readonly notify: readonly NotifyConfig[]
}

/** Time for deliveries that are under way at the end. */
const CLOSE_MS = 3_000

/** Sends raised events to the places that want them. Only one process sends, because workers notice the same events. */
export function openNotifications({ notify }: NotifySlice, ports: NotifyPorts) {
  const { fetch, now = Date.now, onNotice, onOutcome = () => {} } = ports
  const silent = new Set<string>()
  const pacing = createPacing(now, ({ kind }) => onOutcome(kind, 'left_out'))
  let findSpike = createSpikeWatch(now)
  let deliveries: readonly Delivery[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const createHooks = ({ name }: Target) => ({
    onSent({ kind }: Message) {
      if (silent.delete(name)) onNotice(`notify: ${name} can be reached again`)
      outcome(kind, 'sent')
    },
    onFailed({ kind }: Message, reason: string) {
      outcome(kind, 'failed')
      if (silent.has(name)) return
      silent.add(name)
      onNotice(`notify: the notification (${kind}) could not be sent to ${name}: ${reason}`)
    },
    onDropped: ({ kind }: Message) => outcome(kind, 'dropped'),
  })
  const outcome = (kind: Message['kind'], word: SinkOutcome): void => {
    if (kind !== 'test') onOutcome(kind, word)
  }
  const isWanted = (kind: ServiceEvent['kind']): boolean => deliveries.some(({ target }) => target.on.has(kind))

  function openAll(wanted: readonly NotifyConfig[]): readonly Delivery[] {
    const targets = wanted.map(readTarget)
    // A place that stays keeps its delivery: nothing is sent twice, and nothing is lost.
    return targets.map(
      (target) =>
        deliveries.find((one) => isDeepStrictEqual(one.target, target)) ??
        openDelivery(target, { fetch, now, pausesMs: ports.pausesMs }, createHooks(target)),
    )
  }
  const post = ({ event, at, leftOut }: Paced): void => {
    const message: Message = { ...event, at, leftOut, id: randomUUID(), host: hostname() }
    for (const delivery of deliveries) if (delivery.target.on.has(event.kind)) delivery.put(message)
  }
  const arm = (): void => {
    const { wait } = pacing
    if (timer !== undefined || wait === undefined || closed) return
    timer = setTimeout(() => {
      timer = undefined
      for (const paced of pacing.due()) post(paced)
      arm()
    }, wait).unref()
  }
  const raise = (event: ServiceEvent): void => {
    if (closed || !isWanted(event.kind)) return
    const paced = pacing.offer(event)
    if (paced !== undefined) post(paced)
    arm()
  }

  deliveries = openAll(notify)
  return {
    raise,
    refused(count: number): void {
      const spike = isWanted('spike') ? findSpike(count) : undefined
      if (spike !== undefined) raise(spike)
    },
    /** Prepares other places; returns the function that puts them in force. Sent and held events are kept. */
    prepare({ notify: next }: NotifySlice): () => void {
      const opened = openAll(next)
      return () => {
        const gone = deliveries.filter((one) => !opened.includes(one))
        // Refusals were not counted until now.
        if (!isWanted('spike')) findSpike = createSpikeWatch(now)
        deliveries = opened
        for (const delivery of gone) void delivery.close(CLOSE_MS)
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.all(deliveries.map((delivery) => delivery.close(CLOSE_MS)))
    },
  }
}

/** States the result of a test at one place. */
export interface Tested {
  /** Shows the host and the port. */
  readonly place: string
  readonly form: Target['form']
  readonly on: readonly ServiceEvent['kind'][]
  readonly sent: boolean
  /** Gives the place's answer, or why there is none. */
  readonly answer: string
}

/** Sends a test to each place, once. */
export async function testNotifications(
  { notify }: NotifySlice,
  { fetch, now = Date.now }: Pick<NotifyPorts, 'fetch' | 'now'>,
): Promise<readonly Tested[]> {
  const about = { kind: 'test', about: '', text: 'This is a test message from sallyport notify test.' } as const
  return Promise.all(
    notify.map(readTarget).map(async (target): Promise<Tested> => {
      const message = { ...about, id: randomUUID(), at: Date.now(), host: hostname(), leftOut: 0 }
      const result = await sendOnce(target, message, { fetch, now })
      const { name, form, on } = target
      const kinds = EVENT_KINDS.filter((kind) => on.has(kind))
      const answer = result.state === 'sent' ? result.answer : result.reason
      return { place: name, form, on: kinds, sent: result.state === 'sent', answer }
    }),
  )
}
