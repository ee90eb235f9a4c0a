import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from '#stores/testing'

/*
 * A stand-in of CrowdSec's local API, by its public description (localapi_swagger.yaml): what the two sides use of it. It keeps the
 * decisions, requires what it requires, and tells a bouncer by its key what changed since its last question.
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
  /** Method and path of each request. */
  readonly asked: readonly string[]
  readonly decisions: readonly StoredDecision[]
  /** The last alert. */
  readonly alert: Readonly<Record<string, unknown>> | undefined
  /** As `cscli decisions add`. */
  add(decision: Partial<StoredDecision>): number
  /** As `cscli decisions delete`. */
  delete(id: number): void
  /** Answers every request with a status, until it is `undefined`. */
  fail(status: number | undefined): void
  /** Ends every session. */
  forget(): void
  /** Resolves once it was asked for this, by the beginning of method and path. */
  until(start: string, times?: number): Promise<void>
}

export const MACHINE = { machine: 'gate', password: 'correct horse battery' }
export const BOUNCER_KEY = 'bouncer-key-0123456789'

const REQUIRED = ['scenario', 'scenario_hash', 'scenario_version', 'message', 'events_count', 'start_at', 'stop_at']
const REQUIRED_TOO = ['capacity', 'leakspeed', 'simulated', 'events', 'source']
const OF_DECISIONS = ['origin', 'type', 'scope', 'value', 'duration', 'scenario']

interface Answer {
  readonly status: number
  readonly body: unknown
}

const refused = (status: number): Answer => ({ status, body: { message: `refused with ${status}` } })

export async function openLocalCrowdsec(t: Cleanup): Promise<LocalCrowdsec> {
  const asked: string[] = []
  const waiting = new Set<() => void>()
  let decisions: StoredDecision[] = []
  let gone: StoredDecision[] = []
  let untold: StoredDecision[] = []
  let alert: LocalCrowdsec['alert']
  let failing: number | undefined
  let session = 1
  let lastId = 0

  const add = (decision: Partial<StoredDecision>): number => {
    const id = ++lastId
    const whole = { origin: 'cscli', type: 'ban', scope: 'Ip', value: '', duration: '3h59m59.5s', scenario: 'manual' }
    const stored = { ...whole, ...decision, id }
    decisions.push(stored)
    untold.push(stored)
    return id
  }
  const remove = (isMeant: (one: StoredDecision) => boolean): number => {
    const left = decisions.filter(isMeant)
    decisions = decisions.filter((one) => !left.includes(one))
    gone.push(...left.map((one) => ({ ...one, duration: '-5s' })))
    return left.length
  }

  function store(alerts: unknown): Answer {
    if (!Array.isArray(alerts)) return refused(400)
    for (const one of alerts) {
      const isWhole = [...REQUIRED, ...REQUIRED_TOO].every((name) => one[name] !== undefined && one[name] !== null)
      const rows: readonly Partial<StoredDecision>[] = one.decisions ?? []
      if (!isWhole || rows.some((row) => OF_DECISIONS.some((name) => !(name in row)))) return refused(400)
      alert = one
      for (const row of rows) add(row)
    }
    return { status: 201, body: alerts.map((_, index) => String(index + 1)) }
  }
  function stream(url: URL): Answer {
    const isWhole = url.searchParams.get('startup') === 'true'
    const answer = { new: isWhole ? decisions : untold, deleted: gone.length === 0 ? null : gone }
    untold = []
    gone = []
    return { status: 200, body: answer }
  }
  async function answer(request: IncomingMessage, url: URL, text: string): Promise<Answer> {
    if (failing !== undefined) return refused(failing)
    const route = `${request.method} ${url.pathname}`
    if (route === 'POST /v1/watchers/login') {
      const { machine_id: machine, password } = JSON.parse(text)
      if (machine !== MACHINE.machine || password !== MACHINE.password) return refused(403)
      return { status: 200, body: { code: 200, expire: '2100-01-01T00:00:00Z', token: `session.${session}` } }
    }
    if (route === 'GET /v1/decisions/stream') {
      return request.headers['x-api-key'] === BOUNCER_KEY ? stream(url) : refused(403)
    }
    if (route === 'GET /v1/decisions') {
      const about = decisions.filter(({ value }) => value === url.searchParams.get('ip'))
      return request.headers['x-api-key'] === BOUNCER_KEY
        ? { status: 200, body: about.length === 0 ? null : about }
        : refused(403)
    }
    if (request.headers.authorization !== `Bearer session.${session}`) return refused(401)
    if (route === 'POST /v1/alerts') return store(JSON.parse(text))
    if (route !== 'DELETE /v1/decisions') return refused(404)
    const filters = [...url.searchParams] as [keyof StoredDecision, string][]
    const nbDeleted = String(remove((one) => filters.every(([name, value]) => one[name] === value)))
    return { status: 200, body: { nbDeleted } }
  }

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const url = new URL(request.url ?? '', 'http://localhost')
    const { status, body } = await answer(request, url, Buffer.concat(parts).toString())
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    asked.push(`${request.method} ${request.url}`)
    for (const wake of waiting) wake()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    get decisions() {
      return decisions
    },
    get alert() {
      return alert
    },
    add,
    delete: (id) => void remove((one) => one.id === id),
    fail(status) {
      failing = status
    },
    forget() {
      session++
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
