import { signal } from '@preact/signals'

/** The visitor's role, as the server says. */
export interface Session {
  readonly role: 'read' | 'admin' | null
  readonly by: 'session' | 'token' | 'nothing'
  readonly until: number | null
  readonly maySave: boolean
  readonly url: string | null
  readonly api: { readonly enabled: boolean; readonly base: string } | null
}

/** A failed answer, with its code. */
export class Failure extends Error {
  readonly code: string
  readonly details: unknown
  constructor(code: string, message: string, details?: unknown) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** The session; `undefined` until it is known. */
export const session = signal<Session | undefined>(undefined)

/** Why a link did not sign in. */
export const linkFailure = signal<string | undefined>(undefined)

export async function get<T>(path: string, signalOf?: AbortSignal): Promise<T> {
  return ask<T>('GET', path, undefined, signalOf)
}

export async function send<T>(method: 'POST' | 'DELETE', path: string, body: unknown = {}): Promise<T> {
  return ask<T>(method, path, body)
}

/** Trades a token for a session. */
export async function signIn(token: string): Promise<void> {
  await ask('POST', 'session', {}, undefined, { authorization: `Bearer ${token}` })
  await loadSession()
}

/** The code of a link that signs in; what is behind the `#` is sent to nobody, and not kept in the history. */
export function takeLinkCode(): string | undefined {
  const code = /^#sign-in=([\w.-]{1,300})$/.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(null, '', '#/')
  return code
}

/** Trades the code for a session, where there is none yet. */
export async function signInByLink(code: string | undefined): Promise<void> {
  await loadSession()
  if (code === undefined || session.value?.role !== null) return
  await ask('POST', 'session', {}, undefined, { authorization: `Link ${code}` }).then(
    () => loadSession(),
    (error) => {
      linkFailure.value = error instanceof Error ? error.message : String(error)
    },
  )
}

export async function signOut(): Promise<void> {
  await ask('DELETE', 'session', {})
  await loadSession()
}

export async function loadSession(): Promise<void> {
  session.value = await get<Session>('session')
}

async function ask<T>(
  method: string,
  path: string,
  body?: unknown,
  signalOf?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  let response: Response
  try {
    response = await fetch(`/console/api/${path}`, {
      method,
      headers: {
        'x-sallyport-console': '1',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signalOf && { signal: signalOf }),
    })
  } catch (error) {
    if (signalOf?.aborted) throw error
    throw new Failure('unreachable', 'The proxy does not answer.')
  }
  const answered = await response.json().catch(() => undefined)
  if (response.ok) return answered as T
  // A session that has ended is shown as such, and not as a failure of each part.
  if (response.status === 401 && session.value?.by === 'session') void loadSession()
  throw new Failure(answered?.error ?? 'unreadable', answered?.message ?? `HTTP ${response.status}`, answered?.details)
}
