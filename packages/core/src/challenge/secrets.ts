import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { SallyportError } from '../errors.ts'

/** Keys for the challenges and passes of one secret. */
export interface ChallengeSecret {
  /** Which secret made a token; two may share one, so it only saves trying. */
  readonly id: number
  readonly passKey: KeyObject
  /** The key for challenges of an epoch. */
  epochKey(epoch: number): KeyObject
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
  const epochs = new Map<number, KeyObject>()
  return {
    id: derive('id')[0] as number,
    passKey: createSecretKey(derive('pass')),
    epochKey(epoch) {
      let key = epochs.get(epoch)
      if (key === undefined) {
        key = createSecretKey(derive(`epoch ${epoch}`))
        epochs.set(epoch, key)
        for (const old of epochs.keys()) if (epochs.size > LIVE_EPOCHS) epochs.delete(old)
      }
      return key
    },
  }
}

/** Authenticates the fixed fields of a token and the one text that is not in it, with its length before it. */
export function macOf(key: KeyObject, fields: Uint8Array, host: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(host))
  return createHmac('sha256', key).update(fields).update(length).update(host).digest()
}
