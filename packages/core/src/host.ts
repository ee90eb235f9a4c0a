/*
 * The part of a request that adapters handle, without the inspection and the tables it reads: those a process loads
 * where it opens a Sallyport. Names here may change in any release.
 */
export { formatAddress } from './address/address.ts'
export { readScheme } from './address/client-scheme.ts'
export { carriesForwarding, isNamed } from './address/forwarding.ts'
export { aiReferrerOf } from './agent/ai-referrer.ts'
export { cookiesOf } from './challenge/cookies.ts'
export { CHALLENGE_COOKIES, PASS_COOKIES, SOLUTION_FIELD } from './challenge/names.ts'
export { tightest } from './counting/limited.ts'
export { challengedClient } from './counting/shared-address.ts'
export { ERRORS, invalidField, SallyportError } from './errors.ts'
export { createHandoffVerifier } from './handoff/verifier.ts'
export { lazily } from './lazily.ts'
export { suggestion } from './nearest-word.ts'
export { countsByUser } from './policy/check/counts-by-user.ts'
export { pathFault } from './policy/paths/path-readings.ts'
export { MODES, refuses } from './vocabulary.ts'
