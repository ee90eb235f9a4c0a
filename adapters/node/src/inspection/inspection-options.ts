import type { IncomingMessage } from 'node:http'
import type { Decision, Mode, MountPolicy } from '@sallyport/core'
import { MODES, SallyportError, suggestion } from '@sallyport/core/host'
import type { ClaimOptions } from './attest-request.ts'

/**
 * Options of one mount: `inspection(sallyport, options)` in every adapter, `listener`, `guard` and `guardUpgrade`. `Request` is the host's
 * own: Express's request, Koa's context, Fastify's request, Node's, or the web's. An unknown key throws `invalid_config` at start-up.
 */
export interface InspectionOptions<Request = IncomingMessage> extends ClaimOptions<Request> {
  /**
   * Sets the policy of this mount: a preset by name, rules that precede the preset `low-friction`, or a policy without allowlist and
   * strikes. It is compiled once, over the data of the service; absent: the service's policy, also after a reload.
   */
  readonly policy?: MountPolicy | undefined
  /** Sets `enforce` or `monitor` for this mount; absent: the mode of the service. */
  readonly mode?: Mode | undefined
  /** Returns true for a request that is not inspected; the request goes on without a verdict, and without any that it brought. */
  readonly skip?: ((request: Request) => boolean) | undefined
  /** Receives each decision once the host has the request; no request waits for it, nor for its promise. */
  readonly onDecision?: ((decision: Decision, request: Request) => unknown) | undefined
  /**
   * Renders the refusal of a blocked or throttled request, at once or later; without a result, or on an error, the default refusal is sent.
   */
  readonly respond?: ((decision: Decision, request: Request) => Rendering | Promise<Rendering>) | undefined
  /** Names the visitor as the application knows it: rules match `user` and `plan`, and logs show both. */
  readonly identify?: ((request: Request) => Identity | undefined) | undefined
  /** Names the ids of the reasons in `Sallyport-Reasons` of the answer. Throws at start-up where NODE_ENV is production. */
  readonly explain?: boolean | undefined
  /** Receives errors of hooks, and of the inspection itself, after which the request passes. Default: a process warning. */
  readonly onError?: ((error: unknown, request: Request) => void) | undefined
}

/** The application's own id and plan of the visitor; empty values count as absent. */
export interface Identity {
  readonly user?: string | number | undefined
  readonly plan?: string | undefined
}

/** A refusal that the application writes. */
export interface RefusalAnswer {
  /** The status, 200 to 599; default: the status of the refusal, 403 or 429. */
  readonly status?: number | undefined
  /** Adds to `cache-control: no-store` and `x-content-type-options: nosniff`, or replaces them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
}

/** A refusal; without one the default refusal is sent. */
export type Rendering = RefusalAnswer | undefined

const HOOKS = ['skip', 'onDecision', 'respond', 'identify', 'onError'] as const
const KEYS: readonly string[] = ['policy', 'mode', 'provenance', 'explain', ...HOOKS]

/** Throws `invalid_config` that names the option; `others` are the host's own options. */
export function checkOptions<Request>(options: InspectionOptions<Request>, others: readonly string[] = []): void {
  const unknown = Object.keys(options).find((key) => !KEYS.includes(key) && !others.includes(key))
  if (unknown !== undefined) fault(`there is no option "${unknown}"${suggestion(unknown, KEYS)}`)
  for (const hook of HOOKS) {
    const given: unknown = options[hook]
    if (given !== undefined && typeof given !== 'function') fault(`${hook} must be a function`)
  }
  const { mode, explain } = options
  if (mode !== undefined && !MODES.includes(mode)) fault(`mode must be ${MODES.join(' or ')}`)
  if (explain !== undefined && typeof explain !== 'boolean') fault('explain must be true or false')
  if (explain && process.env['NODE_ENV'] === 'production') {
    fault('explain shows the reasons to everybody, so production forbids it. The log has the reasons')
  }
}

function fault(message: string): never {
  throw new SallyportError('invalid_config', `Inspection: ${message}.`)
}
