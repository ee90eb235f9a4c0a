import { signal } from '@preact/signals'
// Types alone: code of the server has no place in the bundle, and this is the only file that names the routes.
import type { ConsoleRow, StreamEvent } from '../src/console/routes/index.ts'

export type { StreamEvent }

type Method = ConsoleRow['method']
/** The path of a row, with any text for its `*`. */
type PathOf<Row extends ConsoleRow> = Row extends { readonly path: `${infer Head}*` } ? `${Head}${string}` : Row['path']
type RowsOf<Verb extends Method> = Extract<ConsoleRow, { readonly method: Verb }>
type RowAt<Rows extends ConsoleRow, Given> = Rows extends ConsoleRow
  ? Given extends PathOf<Rows>
    ? Rows
    : never
  : never

export type Path<Verb extends Method> = PathOf<RowsOf<Verb>>
/** Texts that the route of a path takes, in its query or body. */
export type Asked<Verb extends Method, At extends Path<Verb>> = Readonly<
  Partial<Record<NonNullable<RowAt<RowsOf<Verb>, At>['takes']>[number], string>>
>
/** Answer of the route of a path. */
export type Answer<Verb extends Method, At extends Path<Verb>> = Awaited<ReturnType<RowAt<RowsOf<Verb>, At>['answer']>>
export type Got<At extends Path<'GET'>> = Answer<'GET', At>

/** The visitor's role, as the server says. */
export type Session = Got<'session'>

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

/** Whether the visitor may lift bans, change lists and renew data. */
export function maySteer(): boolean {
  return session.value?.role === 'steer' || session.value?.role === 'admin'
}

/** Why a link did not sign in. */
export const linkFailure = signal<string | undefined>(undefined)

export async function get<const At extends Path<'GET'>>(
  path: At,
  query?: Asked<'GET', At>,
  signalOf?: AbortSignal,
): Promise<Got<At>> {
  return ask<Got<At>>('GET', withQuery(path, query), undefined, signalOf)
}

export async function post<const At extends Path<'POST'>>(
  path: At,
  body: Asked<'POST', At>,
): Promise<Answer<'POST', At>> {
  return ask<Answer<'POST', At>>('POST', path, body)
}

export function withQuery(path: string, query: object = {}): string {
  const text = new URLSearchParams(Object.entries(query)).toString()
  return text === '' ? path : `${path}?${text}`
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
  session.value = await get('session')
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
  if (response.status === 401 && session.value?.by === 'session') void loadSession().catch(() => {})
  throw new Failure(answered?.error ?? 'unreadable', answered?.message ?? `HTTP ${response.status}`, answered?.details)
}
