import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import type { RequestIdentity } from '../decider.ts'
import type { Identity, InspectionOptions, RefusalAnswer, Rendering } from './inspection-options.ts'

/** The hooks of a mount as they are called: what fails in one is reported, and the request goes on without it. */
export interface Hooks<Request> {
  isSkipped(request: Request): boolean
  identityOf(request: Request): RequestIdentity | undefined
  onDecision(decision: Decision, request: Request): void
  /** The refusal as the application renders it, else `refusal`. */
  rendered(refusal: ApiResponse, decision: Decision, request: Request): ApiResponse | Promise<ApiResponse>
  report(error: unknown, request: Request): void
}

export function createHooks<Request>(options: InspectionOptions<Request>): Hooks<Request> {
  const { skip, identify, onDecision, respond, onError } = options

  function report(error: unknown, request: Request): void {
    try {
      if (onError === undefined) warn(error)
      else onError(error, request)
    } catch (failed) {
      warn(failed)
    }
  }

  function caught<Value>(call: () => Value, request: Request): Value | undefined {
    try {
      return call()
    } catch (error) {
      report(error, request)
      return undefined
    }
  }

  return {
    report,
    isSkipped: (request) => skip !== undefined && caught(() => skip(request), request) === true,
    identityOf: (request) => identify && caught(() => readIdentity(identify(request)), request),
    onDecision(decision, request) {
      if (onDecision === undefined) return
      queueMicrotask(() => {
        Promise.resolve(caught(() => onDecision(decision, request), request)).catch((error) => report(error, request))
      })
    },
    rendered(refusal, decision, request) {
      if (respond === undefined) return refusal
      const answered = (rendering: Rendering) => caught(() => answerOf(rendering, refusal), request) ?? refusal
      const rendering = caught(() => respond(decision, request), request)
      if (!(rendering instanceof Promise)) return answered(rendering)
      return rendering.then(answered, (error) => {
        report(error, request)
        return refusal
      })
    },
  }
}

function warn(error: unknown): void {
  process.emitWarning(`A part of the inspection failed: ${error}`, 'SallyportWarning')
}

function readIdentity(given: Identity | undefined): RequestIdentity | undefined {
  if (given === undefined || given === null) return undefined
  const { user, plan } = given
  const [known, bought] = [nameOf('user', user), nameOf('plan', plan)]
  return { user: known, plan: bought }
}

function nameOf(key: string, given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined
  if (typeof given === 'string' || Number.isSafeInteger(given)) return String(given)
  throw new TypeError(`identify: ${key} is neither a text nor a whole number`)
}

const KEPT = [
  'cache-control',
  'x-content-type-options',
  'connection',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'accept-signature',
]

/** The headers of the default refusal that are about any answer in its place stay. Throws for what cannot be sent. */
function answerOf(rendering: Rendering, refusal: ApiResponse): ApiResponse | undefined {
  if (rendering === undefined || rendering === null) return undefined
  const { status = refusal.status, headers = {}, body }: RefusalAnswer = rendering
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`respond: status ${status}`)
  if (typeof body !== 'string') throw new TypeError('respond: the body is not a text')
  const merged = Object.fromEntries(Object.entries(refusal.headers).filter(([name]) => KEPT.includes(name)))
  merged['content-type'] = 'text/plain; charset=utf-8'
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    merged[name.toLowerCase()] = value
  }
  return { status, headers: merged, body }
}
