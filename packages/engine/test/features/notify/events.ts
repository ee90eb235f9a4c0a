import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { createFakeDns } from '@sallyport/core/testing'
import type { Test } from 'tap'
import { createFetch } from '#net'
import { type NotifyPorts, openNotifications } from '../../../src/features/notify/notifications.ts'
import type { NotifyConfig } from '../../../src/features/notify/target.ts'
import type { ServiceEvent } from '../../../src/service/event.ts'
import type { SinkOutcome } from '../../../src/service/feature.ts'
import { openWebServer } from '../../net/web-server.ts'
import { until } from '../../open/opened.ts'

/** A request that a webhook received. */
export interface Posted {
  readonly request: IncomingMessage
  readonly body: string
}

/** An answer: a status, with the seconds after which it may be asked again. */
export type Answer = number | { readonly status: number; readonly retryAfter: number }

/** Opens a webhook on loopback that answers with these statuses, then with 200. */
export async function openHook(t: Test, answers: readonly Answer[] = []) {
  const posted: Posted[] = []
  const left = [...answers]
  const server = await openWebServer(t, async (request, response) => {
    posted.push({ request, body: await text(request) })
    const answer = left.shift() ?? 200
    if (typeof answer === 'number') response.writeHead(answer).end()
    else response.writeHead(answer.status, { 'retry-after': String(answer.retryAfter) }).end()
  })
  /** Resolves when so many were received. */
  async function received(count: number): Promise<readonly Posted[]> {
    await until(() => posted.length >= count)
    return posted
  }
  /** Resolves to the JSON of the message of this number. */
  const message = async (number: number) => JSON.parse((await received(number))[number - 1]?.body ?? '')
  return { url: `${server.origin}/hook`, posted, received, message }
}

/** Notifications to these places, which may be on loopback, closed at the end of a test. */
export async function openPlaces(t: Test, places: readonly NotifyConfig[], more: Partial<NotifyPorts> = {}) {
  const notices: string[] = []
  const outcomes: `${ServiceEvent['kind']} ${SinkOutcome}`[] = []
  const notifications = openNotifications(
    { notify: places },
    {
      fetch: createFetch({ dns: createFakeDns({}), allowPrivate: ['127.0.0.0/8'] }),
      onNotice: (message) => void notices.push(message),
      onOutcome: (kind, outcome) => void outcomes.push(`${kind} ${outcome}`),
      ...more,
    },
  )
  t.teardown(notifications.close)
  return { ...notifications, notices, outcomes }
}

const ORIGIN = 'http://10.0.0.1'
export const DOWN: ServiceEvent = { kind: 'origin', about: ORIGIN, text: `The origin ${ORIGIN} is down.` }
export const UP: ServiceEvent = { ...DOWN, over: true, text: 'The origin http://10.0.0.1 is up again.' }
