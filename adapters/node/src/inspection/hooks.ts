import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import type { RequestIdentity } from '../decider.ts'
import type { Identity, InspectionOptions, RefusalAnswer, Rendering } from './inspection-options.ts'

/** Calls the hooks of a mount: reports an error of a hook, and lets the request go on without that hook. */
export function createHooks<Request>(options: InspectionOptions<Request>) {
  const { skip, identify, onDecision, respond, onError } = options

  function report(error: unknown, request: Request): void {
    try {
      if (onError === undefined) warn(error)
      else onError(error, request)
    } catch (failed) {
      warn(failed)
    }
  }

  function guard<Value>(call: () => Value, request: Request): Value | undefined {
    try {
      return call()
    } catch (error) {
      report(error, request)
      return undefined
    }
  }

  return {
    report,
    isSkipped: (request: Request): boolean => skip !== undefined && guard(() => skip(request), request) === true,
    findIdentity: (request: Request) => identify && guard(() => readIdentity(identify(request)), request),
    onDecision(decision: Decision, request: Request): void {
      if (onDecision === undefined) return
      queueMicrotask(() => {
        Promise.resolve(guard(() => onDecision(decision, request), request)).catch((error) => report(error, request))
      })
    },
    /** Returns the refusal as the application renders it, else `refusal`. */
    rendered(refusal: ApiResponse, decision: Decision, request: Request): ApiResponse | Promise<ApiResponse> {
      if (respond === undefined) return refusal
      const choose = (rendering: Rendering) => guard(() => renderAnswer(rendering, refusal), request) ?? refusal
      const rendering = guard(() => respond(decision, request), request)
      if (!(rendering instanceof Promise)) return choose(rendering)
      return rendering.then(choose, (error) => {
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
  const [known, bought] = [checkName('user', user), checkName('plan', plan)]
  return { user: known, plan: bought }
}

function checkName(key: string, given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined
  if (typeof given === 'string' || Number.isSafeInteger(given)) return String(given)
  throw new TypeError(`identify: ${key} is neither a string nor an integer`)
}

const KEPT = [
  'cache-control',
  'x-content-type-options',
  'connection',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'accept-signature',
  'crawler-price',
  'payment-required',
  'link',
]

/** Renders the application's answer. It keeps headers of the default refusal that hold for any answer. Throws for what cannot be sent. */
function renderAnswer(rendering: Rendering, refusal: ApiResponse): ApiResponse | undefined {
  if (rendering === undefined || rendering === null) return undefined
  const { status = refusal.status, headers = {}, body }: RefusalAnswer = rendering
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`respond: status ${status}`)
  if (typeof body !== 'string') throw new TypeError('respond: the body is not a string')
  const merged = Object.fromEntries(Object.entries(refusal.headers).filter(([name]) => KEPT.includes(name)))
  merged['content-type'] = 'text/plain; charset=utf-8'
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    merged[name.toLowerCase()] = value
  }
  return { status, headers: merged, body }
}
