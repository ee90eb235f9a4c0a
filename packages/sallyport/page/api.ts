import { signal } from '@preact/signals'
// Only types are imported: server code must not enter the bundle, and only this file names the routes.
import type { ConsoleRow, StreamEvent } from '../src/console/routes/index.ts'

export type { StreamEvent }

type Method = ConsoleRow['method']
/** Matches the path of a row, with any text in place of its `*`. */
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
/** Is the answer that the route of a path gives. */
export type Answer<Verb extends Method, At extends Path<Verb>> = Awaited<ReturnType<RowAt<RowsOf<Verb>, At>['answer']>>
export type Got<At extends Path<'GET'>> = Answer<'GET', At>

/** Says which role the visitor has, as the server reports it. */
export type Session = Got<'session'>

/** A failed answer, with its code. */
export class Failure extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Holds the session; `undefined` until it is known. */
export const session = signal<Session | undefined>(undefined)

/** Reports whether the visitor may lift bans, change lists and renew data. */
export function maySteer(): boolean {
  return session.value?.role === 'steer' || session.value?.role === 'admin'
}

export function isAdmin(): boolean {
  return session.value?.role === 'admin'
}

/** Says why a link did not sign in. */
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

/** Gets a session for a token, or for the code of a link. */
export async function signIn(scheme: 'Bearer' | 'Link', secret: string): Promise<void> {
  await ask('POST', 'session', {}, undefined, { authorization: `${scheme} ${secret}` })
  await loadSession()
}

/** Takes the code of a sign-in link. The browser sends the part behind the `#` to no server, and the history does not keep it. */
export function takeLinkCode(): string | undefined {
  const code = /^#sign-in=([\w.-]{1,300})$/.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(null, '', '#/')
  return code
}

/** Exchanges the code for a session, where there is none yet. */
export async function signInByLink(code: string | undefined): Promise<void> {
  await loadSession()
  if (code === undefined || session.value?.role !== null) return
  await signIn('Link', code).catch((error) => {
    linkFailure.value = String(error.message)
  })
}

export async function signOut(): Promise<void> {
  await ask('DELETE', 'session', {})
  await loadSession()
}

async function loadSession(): Promise<void> {
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
    throw new Failure('unreachable', 'The proxy does not respond.')
  }
  const answered = await response.json().catch(() => undefined)
  if (response.ok) return answered as T
  // An ended session is shown once, instead of a failure of each part.
  if (response.status === 401 && session.value?.by === 'session') void loadSession().catch(() => {})
  throw new Failure(answered?.error ?? 'unreadable', answered?.message ?? `HTTP ${response.status}`)
}
