import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

/*
 * Values for a thread that waits for them in the middle of its work, without going back to its event loop: what other
 * threads ask of it meanwhile waits until it is done.
 */

/** Longest wait for one value, in milliseconds: who sends them does so within one turn of its event loop. */
const WAIT_MS = 5_000

interface Part {
  readonly work: number
  readonly value: unknown
}

/** The end that sends. `work` names what the value is for. */
export interface PartsSender {
  send(work: number, value: unknown): void
  /** What the other thread is given to `createPartsReader`. */
  readonly reader: PartsReaderData
}

export interface PartsReaderData {
  readonly port: MessagePort
  /** Values that were sent so far: what a thread can wait for. */
  readonly sent: Int32Array<SharedArrayBuffer>
}

export function createPartsSender(): PartsSender {
  const { port1, port2 } = new MessageChannel()
  const sent = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  port1.unref()
  return {
    send(work, value) {
      port1.postMessage({ work, value } satisfies Part)
      Atomics.add(sent, 0, 1)
      Atomics.notify(sent, 0)
    },
    reader: { port: port2, sent },
  }
}

/** Gives the next value that was sent for some work, and waits for it. What was sent for work before it is left out. */
export function createPartsReader({ port, sent }: PartsReaderData, waitMs = WAIT_MS): (work: number) => unknown {
  return (work) => {
    for (;;) {
      const before = Atomics.load(sent, 0)
      const received = receiveMessageOnPort(port) as { readonly message: Part } | undefined
      if (received === undefined) {
        if (Atomics.wait(sent, 0, before, waitMs) === 'timed-out')
          throw new Error('The rest of the records did not come.')
      } else if (received.message.work === work) return received.message.value
    }
  }
}
