import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { type Asked, Failure, type Got, get, type Path, withQuery } from '../api.ts'

/** An answer that is loading, has failed, or has arrived. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly failure: Failure | undefined
  reload(): void
}

/** Asks the server, again when the question changes, and again every `everyMs`; the last answer stays until the next. */
export function useLoad<const At extends Path<'GET'>>(
  path: At,
  query?: Asked<'GET', At>,
  everyMs?: number,
): Loaded<Got<At>> {
  const question = withQuery(path, query)
  const [answer, setAnswer] = useState<Partial<Loaded<Got<At>>> & { question?: string }>({})
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const ended = new AbortController()
    get(path, query, ended.signal).then(
      (value) => setAnswer({ question, value }),
      (failure) => {
        if (!ended.signal.aborted) {
          setAnswer((before) => ({ ...(before.question === question && before), question, failure }))
        }
      },
    )
    const timer = everyMs === undefined ? undefined : setTimeout(() => setTurn((before) => before + 1), everyMs)
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [question, everyMs, turn])
  const isCurrent = answer.question === question
  return {
    value: isCurrent ? answer.value : undefined,
    failure: isCurrent ? answer.failure : undefined,
    reload: useCallback(() => setTurn((before) => before + 1), []),
  }
}

/** Shows a loaded value, or the reason why it is missing. */
export function Shown<T>({ loaded, children }: { loaded: Loaded<T>; children: (value: T) => ComponentChildren }) {
  const { value, failure, reload } = loaded
  if (value !== undefined) {
    return (
      <>
        {failure && <Failed failure={failure} />}
        {children(value)}
      </>
    )
  }
  if (failure === undefined) return <Loading />
  return <Failed failure={failure} again={reload} />
}

export function Loading() {
  return (
    <p class="quiet loading" role="status">
      Loading…
    </p>
  )
}

export function Failed({ failure, again }: { failure: Failure; again?: (() => void) | undefined }) {
  return (
    <div class="failure" role="alert">
      <p>
        {failure.message} <code>{failure.code}</code>
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Shows the outcome of a visitor's action: nothing yet, a failure, or its result. */
export function Outcome<T>({
  of,
  children,
}: {
  of: T | Failure | undefined
  children?: (done: T) => ComponentChildren
}) {
  return (
    <div aria-live="polite">{of instanceof Failure ? <Failed failure={of} /> : of !== undefined && children?.(of)}</div>
  )
}

/** Reads the texts of a submitted form, trimmed; the browser stays on the page. */
export function readForm(event: SubmitEvent): Readonly<Record<string, string>> {
  event.preventDefault()
  const fields = [...new FormData(event.currentTarget as HTMLFormElement)]
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value).trim()]))
}

/** Returns the outcome of the last action, and a function that runs an action and returns its result; `undefined` after a failure. */
export function useAction<T>(): readonly [
  outcome: T | Failure | undefined,
  act: (work: Promise<T>) => Promise<T | undefined>,
] {
  const [outcome, setOutcome] = useState<T | Failure | undefined>(undefined)
  const act = async (work: Promise<T>): Promise<T | undefined> => {
    const done = await work.catch(toFailure)
    setOutcome(done)
    return done instanceof Failure ? undefined : done
  }
  return [outcome, act]
}

/** Converts whatever was thrown to a failure. */
export function toFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('fault', String(error))
}
