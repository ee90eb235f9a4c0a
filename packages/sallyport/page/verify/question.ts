/** Questions of one worker to another, which answers by WebCrypto. */
export const HASH = 'hash'
export const VERIFY = 'verify'
export type Question = typeof HASH | typeof VERIFY

/** In the memory that both share: whether there is an answer, how long it is, and its bytes. */
const STATE = 0
const LENGTH = 1
const ANSWER_AT = 8
export const SHARED_BYTES = 128
const WAITING = 0
const ANSWERED = 1
const FAILED = 2

const LONGEST_MS = 20_000

export interface Asked {
  readonly question: Question
  readonly parts: readonly Uint8Array[]
}

interface Line {
  port: MessagePort
  memory: SharedArrayBuffer
}

const LINE: { current?: Line | undefined } = {}

/** Names the worker that is asked. */
export function useLine(line: Line): void {
  LINE.current = line
}

/** Asks, and waits for the bytes of the answer. */
export function ask(question: Question, parts: readonly Uint8Array[]): Uint8Array {
  const line = LINE.current
  if (line === undefined) throw new Error('nobody to ask')
  const state = new Int32Array(line.memory, 0, 2)
  Atomics.store(state, STATE, WAITING)
  line.port.postMessage({ question, parts } satisfies Asked)
  if (Atomics.wait(state, STATE, WAITING, LONGEST_MS) === 'timed-out') throw new Error('the browser did not answer')
  if (Atomics.load(state, STATE) !== ANSWERED) throw new Error('this browser cannot check Ed25519 signatures')
  return new Uint8Array(line.memory.slice(ANSWER_AT, ANSWER_AT + Atomics.load(state, LENGTH)))
}

/** Gives the answer; `undefined` that there is none. */
export function answer(memory: SharedArrayBuffer, bytes: Uint8Array | undefined): void {
  const state = new Int32Array(memory, 0, 2)
  if (bytes !== undefined) {
    new Uint8Array(memory, ANSWER_AT).set(bytes)
    Atomics.store(state, LENGTH, bytes.length)
  }
  Atomics.store(state, STATE, bytes === undefined ? FAILED : ANSWERED)
  Atomics.notify(state, STATE)
}
