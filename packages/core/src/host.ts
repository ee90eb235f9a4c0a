/*
 * Adapters load this part for each request. The inspection and its tables are left out: only a process that opens a Sallyport loads them.
 * Names here may change in any release.
 */
export { formatAddress } from './address/address.ts'
export { readScheme } from './address/client-scheme.ts'
export { carriesForwarding, isNamed } from './address/forwarding.ts'
export { findAiReferrer } from './agent/ai-referrer.ts'
export { readTraits } from './behaviour/traits.ts'
export { findCookies } from './challenge/cookies.ts'
export {
  CHALLENGE_COOKIES,
  isFormAction,
  PASS_COOKIES,
  SOLUTION_FIELD,
  TEST_TOKEN,
  TOKEN_FIELD,
} from './challenge/names.ts'
export { describeChallenge } from './challenge/terms.ts'
export { tightest } from './counting/limited.ts'
export { challengedClient } from './counting/shared-address.ts'
export { ERRORS, invalidField, SallyportError } from './errors.ts'
export { createHandoffVerifier } from './handoff/verifier.ts'
export { lazily } from './lazily.ts'
export { type McpBody, readMcpRequest } from './mcp/read-request.ts'
export { suggestion } from './nearest-word.ts'
export { parseUrl } from './parse-url.ts'
export { countsByUser } from './policy/check/counts-by-user.ts'
export { pathFault } from './policy/paths/path-readings.ts'
export { readRule } from './values/observed.ts'
export { MODES, refuses } from './vocabulary.ts'
