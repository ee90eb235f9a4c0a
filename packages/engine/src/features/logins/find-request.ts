import { type Decision, SallyportError } from '@sallyport/core'

/** A request that was inspected, with its raw header fields where they are known. */
export interface InspectedRequest {
  readonly decision: Decision
  readonly fields: readonly string[]
}

interface Observed {
  readonly decision?: Decision | undefined
}

/** Places at which adapters keep the decision about a request: `req.sallyport`, `ctx.state.sallyport`, and two symbols. */
interface Host {
  readonly inspection?: unknown
  readonly sallyport?: Decision | null | undefined
  readonly state?: { readonly sallyport?: Decision | undefined } | undefined
  readonly rawHeaders?: string[] & { readonly [OBSERVATION]?: Observed | undefined }
  readonly headers?: unknown
  /** Koa and Fastify keep the request of Node there. */
  readonly req?: Host | undefined
  readonly raw?: Host | undefined
  readonly [ANSWER]?: { readonly observation?: Observed | undefined } | undefined
}

/** The adapters write these symbols, which every copy of a package in a process knows. */
const OBSERVATION: unique symbol = Symbol.for('sallyport.observation') as never
const ANSWER: unique symbol = Symbol.for('sallyport.web-answer') as never

/** Finds the decision about a request of an adapter, or takes a decision itself. Throws `invalid_config` where no inspection has run. */
export function findInspected(request: object): InspectedRequest {
  const host = request as Host
  if (host.inspection !== undefined) return { decision: request as Decision, fields: [] }
  const node = host.raw ?? host.req ?? host
  const { rawHeaders } = node
  const decision =
    host.sallyport ??
    host.state?.sallyport ??
    rawHeaders?.[OBSERVATION]?.decision ??
    host[ANSWER]?.observation?.decision
  if (decision === undefined) {
    const message = 'accounts.assess() needs a request that inspection() has seen. Mount inspection() before it.'
    throw new SallyportError('invalid_config', message)
  }
  const { headers } = host
  return { decision, fields: rawHeaders ?? (headers instanceof Headers ? [...headers].flat() : []) }
}
