import { createServer, type IncomingMessage } from 'node:http'
import type { Cleanup } from '#stores/testing'
import { listening } from '#stores/testing'

/*
 * A stand-in of CrowdSec's local API, by its public description (localapi_swagger.yaml): what a bouncer uses of it. It keeps the
 * decisions, and tells a bouncer by its key what changed since its last question.
 */

export interface StoredDecision {
  readonly id: number
  readonly origin: string
  readonly type: string
  readonly scope: string
  readonly value: string
  readonly duration: string
  readonly scenario: string
  readonly simulated?: boolean | undefined
}

export interface LocalCrowdsec {
  readonly url: string
  /** Holds the method and path of each request. */
  readonly asked: readonly string[]
  readonly decisions: readonly StoredDecision[]
  /** Adds a decision, as `cscli decisions add` does. */
  add(decision: Partial<StoredDecision>): number
  /** Deletes a decision, as `cscli decisions delete` does. */
  delete(id: number): void
  /** Answers every request with a status, until it is `undefined`. */
  fail(status: number | undefined): void
  /** Resolves once it was asked for this, by the beginning of method and path. */
  until(start: string, times?: number): Promise<void>
}

export const BOUNCER_KEY = 'bouncer-key-0123456789'

interface Answer {
  readonly status: number
  readonly body: unknown
}

const refuse = (status: number): Answer => ({ status, body: { message: `refused with ${status}` } })

export async function openLocalCrowdsec(t: Cleanup): Promise<LocalCrowdsec> {
  const asked: string[] = []
  const waiting = new Set<() => void>()
  let decisions: StoredDecision[] = []
  let gone: StoredDecision[] = []
  let untold: StoredDecision[] = []
  let failing: number | undefined
  let lastId = 0

  const add = (decision: Partial<StoredDecision>): number => {
    const id = ++lastId
    const whole = { origin: 'cscli', type: 'ban', scope: 'Ip', value: '', duration: '3h59m59.5s', scenario: 'manual' }
    const stored = { ...whole, ...decision, id }
    decisions.push(stored)
    untold.push(stored)
    return id
  }
  const remove = (id: number): void => {
    const left = decisions.filter((one) => one.id === id)
    decisions = decisions.filter((one) => one.id !== id)
    gone.push(...left.map((one) => ({ ...one, duration: '-5s' })))
  }

  function stream(url: URL): Answer {
    const isWhole = url.searchParams.get('startup') === 'true'
    const answer = { new: isWhole ? decisions : untold, deleted: gone.length === 0 ? null : gone }
    untold = []
    gone = []
    return { status: 200, body: answer }
  }
  function answer(request: IncomingMessage, url: URL): Answer {
    if (failing !== undefined) return refuse(failing)
    const route = `${request.method} ${url.pathname}`
    if (route === 'GET /v1/decisions/stream') {
      return request.headers['x-api-key'] === BOUNCER_KEY ? stream(url) : refuse(403)
    }
    if (route === 'GET /v1/decisions') {
      const about = decisions.filter(({ value }) => value === url.searchParams.get('ip'))
      return request.headers['x-api-key'] === BOUNCER_KEY
        ? { status: 200, body: about.length === 0 ? null : about }
        : refuse(403)
    }
    return refuse(401)
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const { status, body } = answer(request, url)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    asked.push(`${request.method} ${request.url}`)
    for (const wake of waiting) wake()
  })
  return {
    url: `http://127.0.0.1:${await listening(t, server)}`,
    asked,
    get decisions() {
      return decisions
    },
    add,
    delete: remove,
    fail(status) {
      failing = status
    },
    until: (start, times = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (asked.filter((one) => one.startsWith(start)).length < times) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}
