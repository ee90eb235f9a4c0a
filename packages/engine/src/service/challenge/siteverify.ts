import { type ChallengeProvider, errorText, type Fetch, fetchText, type TokenAnswer } from '@sallyport/core'
import { CHALLENGE_PROVIDERS, type Settings } from '#settings'

/** The part of a configuration that names a provider. */
export type ProviderConfig = NonNullable<Settings['challenge']['provider']>

/** The visitor is kept waiting for the provider until then. */
const VERIFY_MS = 3_000
const MAX_BYTES = 65_536

/** Errors that do not depend on the token but on our secret, our site key or the provider. */
const NOT_OF_TOKEN = /secret|internal-error/i

/**
 * Creates a provider that uses the protocol of reCAPTCHA, Turnstile, hCaptcha and Cap: a form with the secret and the token, and JSON with
 * `success`. Any other response counts as none and is reported to `onFault`. The visitor's address is never sent.
 */
export function createSiteverify(
  { kind, url, siteKey, secret }: ProviderConfig,
  fetch: Fetch,
  onFault: (error: unknown) => void,
): ChallengeProvider {
  const { name, script, verify, attributes, ...widget } = CHALLENGE_PROVIDERS[kind]
  const server = url?.replace(/\/$/, '')
  const fill = (text: string) => text.replace('{siteKey}', siteKey).replace('{url}', server ?? '')
  const place = ([known, path]: readonly [string, string]) => `${server ?? known}${fill(path)}`

  async function ask(token: string): Promise<TokenAnswer | Error> {
    const form = new URLSearchParams({ secret, response: token })
    const body = { type: 'application/x-www-form-urlencoded', text: form.toString() }
    const answer = await fetchText(fetch, { url: place(verify), body, maxBytes: MAX_BYTES, timeoutMs: VERIFY_MS })
    if (answer.state === 'failed') return new Error(answer.reason)
    if (answer.status >= 500 || answer.status === 429) return new Error(`the status is ${answer.status}`)
    return judged(answer.body)
  }

  return {
    widget: {
      ...widget,
      name,
      script: place(script),
      attributes: Object.fromEntries(Object.entries(attributes).map(([at, text]) => [at, fill(text)])),
    },
    async verify(token) {
      try {
        const answer = await ask(token)
        if (!(answer instanceof Error)) return answer
        onFault(new Error(`challenge.provider: ${name} did not answer: ${answer.message}`))
      } catch (error) {
        onFault(new Error(`challenge.provider: ${name} did not answer: ${errorText(error)}`))
      }
      return 'unanswered'
    },
  }
}

function judged(text: string): TokenAnswer | Error {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return new Error('the response is not JSON')
  }
  if (typeof answer !== 'object' || answer === null || !('success' in answer)) return new Error('success is missing')
  if (answer.success === true) return 'right'
  if (answer.success !== false) return new Error('success is neither true nor false')
  const { 'error-codes': codes, error } = answer as { readonly 'error-codes'?: unknown; readonly error?: unknown }
  const words = [codes, error].flat().filter((word) => typeof word === 'string')
  const ours = words.find((word) => NOT_OF_TOKEN.test(word))
  return ours === undefined ? 'wrong' : new Error(ours.slice(0, 100))
}
