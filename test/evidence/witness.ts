import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import { startOrigin } from '../hosts/proxy.ts'

/* A small witness on loopback, written from the text of C2SP tlog-witness, tlog-cosignature, signed-note and RFC 6962. */

/** What a witness answers in place of what it should. */
export type Fault = 'away' | 'hang' | 'garbage' | 'key' | 'time' | 'other' | 'stranger' | 'rewritten'

/** A witness that serves, and what it has done. */
export interface ServedWitness {
  readonly url: string
  readonly vkey: string
  /** Has the statuses that were answered. */
  readonly statuses: number[]
  /** Sizes that it has cosigned, by origin. */
  readonly seen: Map<string, { readonly size: number; readonly root: Buffer }>
  /** The key (vkey) of the one ledger that it serves, and which of its logs; absent: all of them. */
  ledger?: string | undefined
  knows: (origin: string) => boolean
  fault?: Fault | undefined
}

const NAME = 'witness.example/w1'

/** Names a key in a note: the first four bytes of SHA-256 over name, newline, type and key. */
function keyId(name: string, typed: Buffer): Buffer {
  return createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4)
}

function rawKey(key: KeyObject): Buffer {
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url')
}

/** Serves a witness until the test ends. */
export async function serveWitness(t: Test): Promise<ServedWitness> {
  const key = generateKeyPairSync('ed25519').privateKey
  const typed = Buffer.concat([Buffer.from([4]), rawKey(key)])
  const id = keyId(NAME, typed)
  const url = await startOrigin(t, async (request, response) => {
    const body = (await buffer(request)).toString()
    const status = request.method === 'POST' && request.url === '/add-checkpoint' ? await answer(body, response) : 404
    served.statuses.push(status)
    if (!response.writableEnded && status !== 0) response.writeHead(status).end()
  })

  function cosign(checkpoint: string): string {
    const { fault } = served
    const seconds = Math.floor(Date.now() / 1000) - (fault === 'time' ? 86_400 : 0)
    const time = Buffer.alloc(8)
    time.writeBigUInt64BE(BigInt(seconds))
    const message = `cosignature/v1\ntime ${seconds}\n${fault === 'other' ? 'other\n1\nAAAA\n' : checkpoint}`
    const signer = fault === 'key' ? generateKeyPairSync('ed25519').privateKey : key
    const bytes = Buffer.concat([id, time, sign(null, Buffer.from(message), signer)])
    return `\u2014 ${fault === 'stranger' ? 'stranger.example' : NAME} ${bytes.toString('base64')}\n`
  }

  /** Answers as the protocol says, and returns the status; 0: nothing is answered. */
  async function answer(body: string, response: ServerResponse): Promise<number> {
    if (served.fault === 'away') return 500
    if (served.fault === 'hang') return 0
    if (served.fault === 'garbage') {
      response.end('<html>')
      return 200
    }
    const split = body.indexOf('\n\n')
    const [first = '', ...proof] = body.slice(0, split).split('\n')
    const note = body.slice(split + 2)
    const checkpoint = note.slice(0, note.indexOf('\n\n') + 1)
    const [origin = '', sizeText = '', rootText = ''] = checkpoint.split('\n')
    const [size, old] = [Number(sizeText), Number(/^old (0|[1-9]\d*)$/.exec(first)?.[1])]
    if (!served.knows(origin) || served.ledger === undefined) return 404
    if (!isSigned(note, checkpoint, served.ledger)) return 403
    if (!(old <= size)) return 400
    const seen = served.fault === 'rewritten' ? { size: old, root: Buffer.alloc(32) } : served.seen.get(origin)
    if (old !== (seen?.size ?? 0)) {
      response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end(`${seen?.size ?? 0}\n`)
      return 409
    }
    const root = Buffer.from(rootText, 'base64')
    const hashes = proof.map((line) => Buffer.from(line, 'base64'))
    if (!continues(old, seen?.root, size, root, hashes)) return 422
    served.seen.set(origin, { size, root })
    response.end(cosign(checkpoint))
    return 200
  }

  const served: ServedWitness = {
    url,
    vkey: `${NAME}+${id.toString('hex')}+${typed.toString('base64')}`,
    statuses: [],
    seen: new Map(),
    knows: () => true,
  }
  return served
}

/** Whether a note has a good signature of this verifier key (C2SP signed-note, type 1). */
function isSigned(note: string, text: string, vkey: string): boolean {
  // The key is base64, which may hold a plus.
  const [, name, id, typed = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? []
  const x = Buffer.from(typed, 'base64').subarray(1).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return note.split('\n').some((line) => {
    const [, signer, bytes = ''] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? []
    const signature = Buffer.from(bytes, 'base64')
    if (signer !== name || signature.subarray(0, 4).toString('hex') !== id) return false
    return verify(null, Buffer.from(text), key, signature.subarray(4))
  })
}

const join = (left: Buffer, right: Buffer): Buffer =>
  createHash('sha256')
    .update(Buffer.from([1]))
    .update(left)
    .update(right)
    .digest()

/** Verifies a consistency proof (RFC 9162 2.1.4.2, which is the algorithm for proofs of RFC 6962). */
function continues(
  old: number,
  oldRoot: Buffer | undefined,
  size: number,
  root: Buffer,
  proof: readonly Buffer[],
): boolean {
  if (old === 0) return proof.length === 0
  if (old === size) return proof.length === 0 && oldRoot?.equals(root) === true
  const path = Number.isInteger(Math.log2(old)) ? [oldRoot as Buffer, ...proof] : [...proof]
  let [fn, sn] = [old - 1, size - 1]
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  let [fr, sr] = [path[0], path[0]]
  for (const hash of path.slice(1)) {
    if (sn === 0 || fr === undefined || sr === undefined) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = join(hash, fr)
      sr = join(hash, sr)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
    } else sr = join(sr, hash)
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return sn === 0 && fr?.equals(oldRoot as Buffer) === true && sr?.equals(root) === true
}
