import { type Fetch, type FetchRequest, fetchText } from '@sallyport/core'

/** How to reach the local API of CrowdSec, as a machine that it knows. */
export interface CrowdsecMachine {
  readonly url: string
  readonly machine: string
  readonly password: string
}

/** An answer: `again` is worth another try. Reasons hold no secret. */
export type Asked =
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly reason: string; readonly again: boolean }

type Failed = Extract<Asked, { state: 'failed' }>

/** One machine's session at the local API of CrowdSec. */
export interface CrowdsecApi {
  /** Signs in; returns why it cannot. Never rejects. */
  signIn(): Promise<Failed | undefined>
  /** Signs in where it has to, and asks once. Never rejects. */
  ask(request: Pick<FetchRequest, 'method'> & { readonly path: string; readonly body?: unknown }): Promise<Asked>
}

const MAX_BYTES = 1_048_576
const TIMEOUT_MS = 10_000

export function createCrowdsecApi(
  { url, machine, password }: CrowdsecMachine,
  outbound: Fetch,
  signal: AbortSignal,
): CrowdsecApi {
  const base = url.replace(/\/$/, '')
  let token: string | undefined

  const send = (path: string, body: unknown, more: Partial<FetchRequest>) =>
    fetchText(outbound, {
      url: base + path,
      ...(body !== undefined && { body: { type: 'application/json', text: JSON.stringify(body) } }),
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      signal,
      ...more,
    })

  async function signIn(): Promise<Failed | undefined> {
    const answer = await send('/v1/watchers/login', { machine_id: machine, password, scenarios: [] }, {})
    if (answer.state === 'failed') return failed(answer.reason)
    if (answer.status !== 200) return failed(`the sign-in is answered with ${answer.status}`)
    token = tokenOf(answer.body)
    return token === undefined ? failed('the sign-in brought no token') : undefined
  }

  const ask: CrowdsecApi['ask'] = async ({ path, body, method }) => {
    const isFresh = token === undefined
    const fault = isFresh ? await signIn() : undefined
    if (fault !== undefined) return fault
    const answer = await send(path, body, { method, headers: { authorization: `Bearer ${token}` } })
    if (answer.state === 'failed') return failed(answer.reason)
    const { status } = answer
    if (status >= 200 && status < 300) return { state: 'done' }
    const reason = `${path.split('?', 1)[0]} is answered with ${status}`
    if (status !== 401 && status !== 403) return failed(reason, status === 429 || status >= 500)
    // A token ends after some time, and where CrowdSec makes another key.
    token = undefined
    return isFresh ? failed(reason) : ask({ path, body, method })
  }
  return { signIn, ask }
}

function failed(reason: string, again = true): Failed {
  return { state: 'failed', reason, again }
}

function tokenOf(text: string): string | undefined {
  try {
    const { token } = JSON.parse(text)
    return typeof token === 'string' && /^[\x21-\x7e]{1,8192}$/.test(token) ? token : undefined
  } catch {
    return undefined
  }
}
