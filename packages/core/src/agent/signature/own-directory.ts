import { createHash, type KeyObject } from 'node:crypto'
import { TAG } from './signed-directory.ts'
import { createSigner } from './signer.ts'
import { readSigningKeys } from './signing-keys.ts'

/** The response that serves a directory of keys. */
export interface DirectoryAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Caches keep the response for a shorter time. */
const LIFE_S = 3_600
const EARLIER_S = 30

/**
 * Builds the response for the well-known path of an agent (draft-meunier-webbotauth-httpsig-directory): the public keys, and a signature by
 * each of them over its host and these bytes. It leaves out expired keys. `now` is in milliseconds since the epoch.
 */
export function answerDirectory(given: KeyObject | object, agent: string, now: number): DirectoryAnswer {
  const keys = readSigningKeys(given).filter(({ notAfter }) => now < notAfter)
  const created = Math.floor(now / 1000) - EARLIER_S
  const body = JSON.stringify({ keys: keys.map(({ published }) => published) })
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
  const components = '"@authority";req "content-digest"'
  const signing = { components, created, expires: created + LIFE_S, tag: TAG } as const
  const request = { fields: ['content-digest', digest], answeredTo: new URL(agent) }
  // A key that is not in use yet signs too, which shows that its host has it.
  const signed = keys.map(({ key }, at) => createSigner(key).sign({ ...signing, request, label: `sig${at + 1}` }))
  return {
    headers: {
      'content-type': `application/${TAG}+json`,
      'cache-control': 'max-age=300',
      'content-digest': digest,
      'signature-input': signed.map(([, input]) => input).join(', '),
      signature: signed.map(([, , , signature]) => signature).join(', '),
    },
    body,
  }
}
