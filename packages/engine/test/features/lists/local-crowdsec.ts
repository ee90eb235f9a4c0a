import { createServer, type IncomingMessage } from 'node:http'
import { type Cleanup, listening } from '#stores/testing'

/*
 * A stand-in of CrowdSec's local API (localapi_swagger.yaml): it keeps the decisions, and tells a bouncer by its key what changed since
 * its last question.
 */

const DECISION = { origin: 'cscli', type: 'ban', scope: 'Ip', value: '', duration: '3h59m59.5s', scenario: 'manual' }

type StoredDecision = typeof DECISION & { readonly id: number; readonly simulated?: boolean | undefined }

export type LocalCrowdsec = Awaited<ReturnType<typeof openLocalCrowdsec>>

export const BOUNCER_KEY = 'bouncer-key-0123456789'

type Answer = readonly [status: number, body: unknown]

const refuse = (status: number): Answer => [status, { message: `refused with ${status}` }]

export async function openLocalCrowdsec(t: Cleanup) {
  /** Holds the method and path of each request. */
  const asked: string[] = []
  let decisions: StoredDecision[] = []
  let gone: StoredDecision[] = []
  let untold: StoredDecision[] = []
  let failing: number | undefined
  let lastId = 0

  /** Adds a decision, as `cscli decisions add` does. */
  const add = (decision: Partial<StoredDecision>): number => {
    const id = ++lastId
    const stored = { ...DECISION, ...decision, id }
    decisions.push(stored)
    untold.push(stored)
    return id
  }
  /** Deletes a decision, as `cscli decisions delete` does. */
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
    return [200, answer]
  }
  function answer(request: IncomingMessage, url: URL): Answer {
    if (failing !== undefined) return refuse(failing)
    const route = `${request.method} ${url.pathname}`
    if (!['GET /v1/decisions/stream', 'GET /v1/decisions'].includes(route)) return refuse(401)
    if (request.headers['x-api-key'] !== BOUNCER_KEY) return refuse(403)
    if (route.endsWith('stream')) return stream(url)
    const about = decisions.filter(({ value }) => value === url.searchParams.get('ip'))
    return [200, about.length === 0 ? null : about]
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const [status, body] = answer(request, url)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    asked.push(`${request.method} ${request.url}`)
  })
  return {
    url: `http://127.0.0.1:${await listening(t, server)}`,
    asked,
    get decisions(): readonly StoredDecision[] {
      return decisions
    },
    add,
    delete: remove,
    /** Answers every request with a status, until it is `undefined`. */
    fail(status: number | undefined): void {
      failing = status
    },
  }
}
