import type { Port43, Port43Question } from '@sallyport/core'
import { errorCode } from '@sallyport/core'
import { type Deadline, openDeadline } from './deadline.ts'
import { dial } from './dial.ts'
import { createGuard, type Guard, type GuardOptions } from './guard.ts'

/** Every registry's answer is shorter. */
const MAX_ANSWER_BYTES = 256 * 1024

/** A line break would start a second question, and the charset beyond ASCII is not defined. */
const QUESTION = /^[\x20-\x7e]{1,300}$/

/**
 * Opens WHOIS connections (RFC 3912) to public addresses alone, through the same guard as HTTP. One deadline covers name, connection and
 * answer, so that a slow server is cut off like a silent server. Throws `invalid_config` for an unusable `allowPrivate`.
 */
export function createPort43(options: GuardOptions): Port43 {
  const guard = createGuard(options)
  return {
    async ask(question) {
      const deadline = openDeadline(question.timeoutMs)
      try {
        if (!QUESTION.test(question.question)) throw new Error('not a question for port 43')
        return { state: 'answered', text: await exchange(question, guard, deadline) }
      } catch (error) {
        return { state: 'failed', reason: errorCode(deadline.signal.aborted ? deadline.signal.reason : error) }
      } finally {
        deadline.clear()
      }
    },
  }
}

async function exchange({ host, port, question }: Port43Question, guard: Guard, deadline: Deadline): Promise<string> {
  const checked = await deadline.race(guard(host))
  const socket = await dial(checked, port, deadline.signal)
  try {
    // The socket is not half-closed, because some servers then stop answering.
    socket.write(`${question}\r\n`)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of socket) {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
    }
    return decodeText(Buffer.concat(chunks))
  } finally {
    socket.destroy()
  }
}

/** The protocol has no charset: UTF-8 where the bytes are valid UTF-8, else Latin 1. */
function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}
