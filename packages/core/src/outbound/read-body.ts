import { errorText } from '../error-text.ts'
import type { Fetch, FetchAnswer, FetchRequest } from '../ports/index.ts'

/** Fetches a response with its whole body; a body that breaks off or exceeds a bound is `failed`. Never rejects. */
export async function fetchBytes(outbound: Fetch, request: FetchRequest): Promise<FetchAnswer<Uint8Array>> {
  const answer = await outbound.fetch(request)
  if (answer.state === 'failed') return answer
  try {
    return { ...answer, body: await collect(answer.body) }
  } catch (error) {
    return { state: 'failed', reason: errorText(error) }
  }
}

/** Fetches the body as text: UTF-8, a byte order mark removed, other bytes replaced by U+FFFD. */
export async function fetchText(outbound: Fetch, request: FetchRequest): Promise<FetchAnswer<string>> {
  const answer = await fetchBytes(outbound, request)
  return answer.state === 'failed' ? answer : { ...answer, body: new TextDecoder().decode(answer.body) }
}

/** Releases the socket of a response whose body will not be read. */
export async function dropBody(answer: FetchAnswer): Promise<void> {
  if (answer.state === 'answered') await answer.body[Symbol.asyncIterator]().return?.()
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
