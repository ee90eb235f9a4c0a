import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { lookup } from 'rdapper'
import type { Reading } from './answers.ts'

/*
 * rdapper has no parser among its exports, and asks port 43 itself. While it is measured, every connection it opens is
 * this, which says the answer that was collected, so that nothing leaves the machine and no wire is measured.
 */
class AnsweringSocket extends EventEmitter {
  readonly #text: Buffer

  constructor(text: Buffer) {
    super()
    this.#text = text
    queueMicrotask(() => this.emit('connect'))
  }

  write(): void {
    if (this.#text.length > 0) this.emit('data', this.#text)
    this.emit('end')
  }

  destroy(): void {
    this.removeAllListeners()
  }
}

/** Runs with every new connection answering with the text that `say` was last given. */
export async function withAnsweringSockets<Result>(
  run: (say: (text: string) => void) => Promise<Result>,
): Promise<Result> {
  const { createConnection } = net
  let text = Buffer.alloc(0)
  Object.assign(net, { createConnection: () => new AnsweringSocket(text) })
  syncBuiltinESMExports()
  try {
    return await run((next) => {
      text = Buffer.from(next)
    })
  } finally {
    Object.assign(net, { createConnection })
    syncBuiltinESMExports()
  }
}

/** Rdapper's reading of the answer that its connection gives. */
export async function readingOfRdapper(): Promise<Reading> {
  const { ok, record, errorCode } = await lookup('example.com', {
    whoisOnly: true,
    followWhoisReferral: false,
    whoisHints: { com: 'whois.example' },
  })
  if (!ok || record === undefined) {
    const refused = errorCode === 'rate_limited' || errorCode === 'blocked'
    return { state: refused ? 'throttled' : errorCode === 'unknown' ? 'crashed' : 'unreadable', facts: {} }
  }
  // Its record of a name that is free holds facts too: they count.
  const { isRegistered, registrar, creationDate, expirationDate, updatedDate, nameservers, statuses } = record
  return {
    state: isRegistered ? 'registered' : 'free',
    facts: {
      registrar: registrar?.name,
      registeredOn: creationDate?.slice(0, 10),
      expiresOn: expirationDate?.slice(0, 10),
      lastUpdated: updatedDate?.slice(0, 10),
      nameservers: nameservers?.map(({ host }) => host),
      status: statuses?.map(({ status }) => status),
    },
  }
}
