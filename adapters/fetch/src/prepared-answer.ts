import type { Passed } from './either-runtime.ts'

/** The prepared answer of h3: its headers are those of whatever is made of a handler's value. */
interface Prepared {
  readonly status?: number | undefined
  readonly headers: Headers
  readonly errHeaders?: Headers | undefined
}

/** Value of a handler for a path that no route has. */
const NOT_FOUND = Symbol.for('h3.notFound')

/**
 * Runs the rest of an application whose host makes a response of what that returns, later: the request ends with the status
 * that it will have, and its prepared answer is given our headers.
 */
export async function finishPrepared(
  prepared: Prepared,
  end: NonNullable<Passed['end']>,
  next: () => unknown,
): Promise<unknown> {
  const tell = (status: number) => {
    const isSendable = Number.isInteger(status) && status >= 200 && status <= 599
    const told = end(new Response(null, { status: isSendable ? status : 500 }))
    for (const [name, value] of told.headers) {
      const put = name === 'set-cookie' ? 'append' : 'set'
      prepared.headers[put](name, value)
      prepared.errHeaders?.[put](name, value)
    }
  }
  try {
    const value = await next()
    if (value instanceof Response) return end(value)
    tell(value === NOT_FOUND ? 404 : (statusOf(value) ?? prepared.status ?? 200))
    return value
  } catch (thrown) {
    tell(statusOf(thrown) ?? 500)
    throw thrown
  }
}

function statusOf(value: unknown): number | undefined {
  const { status }: { readonly status?: unknown } = Object(value)
  return typeof status === 'number' ? status : undefined
}
