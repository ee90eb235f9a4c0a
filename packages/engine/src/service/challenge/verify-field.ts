import type { Challenges, FormCheck } from '@sallyport/core'
import { isFormAction, SallyportError } from '@sallyport/core/host'
import type { Settings } from '#settings'

/** The members that a form needs of a request, in Node, Express, Koa, Fastify or on the web. */
export interface FormRequest {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Names the form that a token is for. */
export interface VerifyFieldOptions {
  /** Matches `data-action` of the element in the form; if absent, `form`. */
  readonly action?: string | undefined
}

/**
 * Accepts the token of a form once, within five minutes, for the host, the action and the browser family that it was made for. In monitor
 * mode every token is `ok`, and `would` names the fault. Rejects with `invalid_config` for an impossible action.
 */
export type VerifyField = (
  request: FormRequest,
  token: unknown,
  options?: VerifyFieldOptions,
) => Promise<FormCheck & { readonly would?: string | undefined }>

export function createFieldVerifier(
  challenges: Pick<Challenges, 'forms'>,
  config: () => Pick<Settings, 'mode'>,
): VerifyField {
  return async ({ headers }, token, { action = 'form' } = {}) => {
    if (!isFormAction(action)) {
      throw new SallyportError('invalid_config', 'verifyField: action has 1 to 64 characters of A-Z a-z 0-9 . _ : / -.')
    }
    const read = (name: string) => (headers instanceof Headers ? headers.get(name) : headers[name])?.toString() ?? ''
    const host = read('host') || (headers instanceof Headers ? '' : read(':authority'))
    const checked = await challenges.forms.check({ host, userAgent: read('user-agent') }, token, action)
    return !checked.ok && config().mode === 'monitor' ? { ok: true, level: 1, would: checked.reason } : checked
  }
}
