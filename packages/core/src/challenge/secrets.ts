import { hash, hkdfSync } from 'node:crypto'
import { SallyportError } from '../errors.ts'

/** Authenticates the fixed fields of a token and the one text that is not in it, with its length before it: 32 bytes. */
export type Mac = (fields: Uint8Array, host: string) => Buffer

/** Keys for the challenges and passes of one secret. */
export interface ChallengeSecret {
  /** Which secret made a token; two may share one, so it only saves trying. */
  readonly id: number
  readonly passMac: Mac
  /** Authenticates the challenges of an epoch. */
  epochMac(epoch: number): Mac
}

/** Less can be found by trying. */
const SHORTEST_SECRET = 32

/** Epochs whose keys are kept: the current one and its neighbours. */
const LIVE_EPOCHS = 3

/** Secrets that are live: the first makes, the others are still taken. Throws `invalid_config` for one that is too short. */
export function createChallengeSecrets(texts: readonly string[]): readonly ChallengeSecret[] {
  return texts.map((text) => {
    if (text.length < SHORTEST_SECRET) {
      const message = `challenge: a secret has at least ${SHORTEST_SECRET} characters, this one ${text.length}`
      throw new SallyportError('invalid_config', message)
    }
    return createSecret(text)
  })
}

function createSecret(text: string): ChallengeSecret {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', text, 'sallyport challenge', purpose, 32))
  const epochs = new Map<number, Mac>()
  return {
    id: derive('id')[0] as number,
    passMac: createMac(derive('pass')),
    epochMac(epoch) {
      let mac = epochs.get(epoch)
      if (mac === undefined) {
        mac = createMac(derive(`epoch ${epoch}`))
        epochs.set(epoch, mac)
        for (const old of epochs.keys()) if (epochs.size > LIVE_EPOCHS) epochs.delete(old)
      }
      return mac
    },
  }
}

/** Bytes of a block and of a digest of SHA-256. */
const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA-256 (RFC 2104) with a key of at most a block, as two hashes in one call each: an object of `createHmac` takes twice
 * as long, and more where it is collected.
 */
function createMac(key: Uint8Array): Mac {
  const [inner, outer] = [0x36, 0x5c].map((pad) =>
    Buffer.alloc(BLOCK, pad).map((byte, at) => byte ^ (key[at] ?? 0)),
  ) as [Uint8Array, Uint8Array]
  const digest = Buffer.concat([outer, Buffer.alloc(DIGEST)])
  return (fields, host) => {
    const length = Buffer.byteLength(host)
    const message = Buffer.allocUnsafe(BLOCK + fields.length + 2 + length)
    message.set(inner)
    message.set(fields, BLOCK)
    message.writeUInt16BE(length, BLOCK + fields.length)
    message.write(host, BLOCK + fields.length + 2)
    digest.write(hash('sha256', message), BLOCK, 'hex')
    return Buffer.from(hash('sha256', digest), 'hex')
  }
}
