import type { Decision } from '@sallyport/core'
import type { ApiHost, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import { baseOf, createInspection, requireApi, withVerdict } from '@sallyport/node/internal'
import { v1 as answerFetch } from './index.ts'
import {
  type LambdaEvent,
  type LambdaResult,
  originOf,
  REQUEST,
  requestOf,
  resultOf,
  structured,
} from './lambda-event.ts'
import { answerTo, fieldsOf, headersOf, WEB, webResponse } from './web-request.ts'

export type { LambdaEvent, LambdaResult } from './lambda-event.ts'

/** Handles an event; what it resolves to is a result, or by the rule of API Gateway the JSON of an answer of 200. */
export type LambdaHandler<Event, Context> = (event: Event, context: Context) => unknown

/** An event that was inspected; without `sallyport` where it could not be judged. */
export type Inspected<Event> = Event & { readonly sallyport?: Decision | undefined }

/**
 * A Lambda handler of events of payload format 2.0 (HTTP APIs of API Gateway, function URLs) that inspects every request: an
 * enforced block is answered with 403, any other goes to `handler` with the decision as `event.sallyport` and in its headers.
 * The visitor is `requestContext.http.sourceIp`. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection, type LambdaEvent } from '@sallyport/fetch/lambda'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open({ dataDir: '/var/task/data', data: { readOnly: true } })
 * export const handler = inspection<LambdaEvent>(sallyport, async ({ sallyport }) => ({
 *   statusCode: 200,
 *   body: `welcome: ${sallyport?.action}`,
 * }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection<Event extends LambdaEvent = LambdaEvent, Context = unknown>(
  sallyport: Decider,
  handler: LambdaHandler<Inspected<Event>, Context>,
  options: InspectionOptions<NoInfer<Event>> = {},
): (event: Event, context: Context) => Promise<LambdaResult> {
  const inspect = createInspection(WEB, sallyport, options)
  return async (event, context) => {
    const request = requestOf(event)
    const answer = answerTo(request, originOf(event))
    const { decision, refusal } = await inspect(answer, event)
    if (refusal !== undefined) return resultOf(answer.finish(webResponse(refusal, request.method)))
    const headers = Object.fromEntries(headersOf(withVerdict(fieldsOf(request), decision)))
    try {
      // The path that was judged: a web request resolves dot segments, and the event may still have them.
      const { pathname: rawPath } = new URL(request.url)
      const given = { ...event, rawPath, headers, sallyport: decision, [REQUEST]: request }
      const result = structured(await handler(given, context))
      const told = answer.finish(new Response(null, { status: result.statusCode, headers: result.headers ?? {} }))
      const { 'set-cookie': _, ...fields } = Object.fromEntries(told.headers)
      return { ...result, headers: fields, cookies: [...(result.cookies ?? []), ...told.headers.getSetCookie()] }
    } catch (thrown) {
      answer.finish(new Response(null, { status: 500 }))
      throw thrown
    }
  }
}

/**
 * A Lambda handler that answers everything under `<base>/v1` and hands any other event to `handler`. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { inspection, v1 } from '@sallyport/fetch/lambda'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open({ dataDir: '/tmp/sallyport' })
 * const site = async () => ({ statusCode: 200, body: 'the site' })
 * export const handler = inspection(sallyport, v1(sallyport, site, { base: '/detect' }))
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1<Event extends LambdaEvent = LambdaEvent, Context = unknown>(
  sallyport: ApiHost,
  handler: LambdaHandler<Event, Context>,
  options: V1Options = {},
): (event: Event, context: Context) => Promise<unknown> {
  requireApi(sallyport)
  const base = baseOf(options.base)
  return async (event, context) => {
    const answered = await answerFetch(sallyport, requestOf(event), { ...originOf(event), base })
    return answered === undefined ? handler(event, context) : resultOf(answered)
  }
}
