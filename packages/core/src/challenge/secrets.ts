import { hash, hkdfSync } from 'node:crypto'
import { SallyportError } from '../errors.ts'

/** Authenticates the fixed fields of a token and the host, which is not in it, with its length before it: 32 bytes. */
export type Mac = (fields: Uint8Array, host: string) => Buffer

/** Holds the keys for the challenges and passes of one secret. */
export interface ChallengeSecret {
  /** Says which secret made a token; two secrets may share an id, so it only saves attempts. */
  readonly id: number
  readonly passMac: Mac
  /** Makes the key that authenticates the challenges of an epoch. */
  epochMac(epoch: number): Mac
}

export type ChallengeSecrets = readonly [ChallengeSecret, ...ChallengeSecret[]]

/** A shorter secret can be guessed. */
const SHORTEST_SECRET = 32

/** Limits the epochs whose keys are kept: the current one and its neighbours. */
const LIVE_EPOCHS = 3

/** Derives keys of live secrets: the first makes tokens, all verify. Throws `invalid_config` for a secret that is too short. */
export function createChallengeSecrets(texts: readonly string[]): ChallengeSecrets {
  return texts.map(createSecret) as [ChallengeSecret, ...ChallengeSecret[]]
}

function createSecret(text: string): ChallengeSecret {
  if (text.length < SHORTEST_SECRET) {
    const message = `challenge: a secret has at least ${SHORTEST_SECRET} characters, this one ${text.length}`
    throw new SallyportError('invalid_config', message)
  }
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

/** SHA-256 has a block and a digest of these sizes, in bytes. */
const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA-256 (RFC 2104) with a key of at most a block, as two hashes in one call each: `createHmac` takes twice as long, and more where
 * its object is collected.
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
