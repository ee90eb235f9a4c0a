import { randomBytes } from 'node:crypto'
import { answerDirectory, type DirectoryAnswer } from './agent/signature/own-directory.ts'
import {
  createRequestSigner,
  type RequestParts,
  type RequestSigner,
  readAgent,
  type SignerOptions,
} from './agent/signature/request-signer.ts'

/* Signs the requests of a program. Only here does this package read the clock and random bytes itself; elsewhere its caller gives them. */

export type { DirectoryAnswer, RequestParts, RequestSigner, SignerOptions }

/**
 * Signs requests by Web Bot Auth (RFC 9421), so that a server can prove who sent them. Throws `invalid_config` for an agent that is not an
 * https origin, and for a key that is not a private Ed25519 key.
 *
 * @example
 * ```ts
 * import { signer } from '@sallyport/core/signing'
 * export async function visit(key: JsonWebKey, url: string): Promise<Response> {
 *   const bot = signer({ key, agent: 'https://bot.example' })
 *   return fetch(await bot.sign(new Request(url)))
 * }
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/agents.md#sign-your-own-requests
 */
export function signer(options: SignerOptions): RequestSigner {
  return createRequestSigner(options, { now: Date.now, random: randomBytes })
}

/**
 * Returns the response of an agent's origin at `/.well-known/http-message-signatures-directory`, where servers fetch its public keys:
 * signed now, for an hour. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { directory, type SignerOptions } from '@sallyport/core/signing'
 * export function answer(options: Pick<SignerOptions, 'key' | 'agent'>): Response {
 *   const { headers, body } = directory(options)
 *   return new Response(body, { headers })
 * }
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/agents.md#sign-your-own-requests
 */
export function directory({ key, agent }: Pick<SignerOptions, 'key' | 'agent'>): DirectoryAnswer {
  return answerDirectory(key, readAgent(agent ?? (key as { readonly agent?: unknown }).agent), Date.now())
}
