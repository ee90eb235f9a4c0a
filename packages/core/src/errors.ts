/**
 * The only table of error codes. `status` is the HTTP status of an API response; codes without a status occur at startup or on the command
 * line only. Any thrown value that is not a `SallyportError` is a bug: 500, logged, without detail.
 */
export const ERRORS = {
  invalid_ip: { status: 400, message: 'The IPv4 or IPv6 address is not valid.' },
  invalid_target: { status: 400, message: 'The target is not an address, CIDR, hostname or URL.' },
  unresolved_target: { status: 400, message: 'The hostname could not be resolved to a public address.' },
  invalid_asn: { status: 400, message: 'The ASN is not valid. Use AS<number> or the number.' },
  invalid_domain: { status: 400, message: 'The name is not a registrable domain.' },
  domain_not_found: { status: 400, message: 'The domain is not registered.' },
  domain_reserved: { status: 400, message: 'The name is reserved by its registry and cannot be registered.' },
  invalid_request: { status: 400, message: 'The request is not valid for this route.' },
  unknown_crawler: { status: 400, message: 'The catalogue has no such crawler.' },
  claim_mismatch: { status: 400, message: 'The user agent does not name the crawler in `bot`.' },
  unauthorized: { status: 401, message: 'A valid API key is required: Authorization: Bearer <API_KEY>.' },
  payment_required: { status: 402, message: 'This site requires a payment.' },
  request_blocked: { status: 403, message: 'This request was blocked by the policy of this site.' },
  challenge_required: { status: 403, message: 'This site requires a solved challenge.' },
  forbidden: { status: 403, message: 'An administrator token is required.' },
  not_found: { status: 404, message: 'Not found.' },
  asn_not_found: { status: 404, message: 'The database has no such autonomous system.' },
  attestation_not_found: { status: 404, message: 'This account has no such attestation.' },
  method_not_allowed: { status: 405, message: 'This method is not allowed here.' },
  payload_too_large: { status: 413, message: 'The request body is larger than 64 KiB.' },
  misdirected_request: { status: 421, message: 'This server does not serve this host.' },
  unavailable_for_legal_reasons: { status: 451, message: 'By law, this content is not available in your region.' },
  rate_limit_exceeded: { status: 429, message: 'Rate limit exceeded.' },
  internal_error: { status: 500, message: 'Internal server error.' },
  bad_gateway: { status: 502, message: 'The origin sent no valid response.' },
  service_unavailable: { status: 503, message: 'The service is temporarily unavailable.' },
  attestation_unavailable: { status: 503, message: 'The ledger is temporarily unavailable: nothing was attested.' },
  gateway_timeout: { status: 504, message: 'The origin did not answer in time.' },
  loop_detected: { status: 508, message: 'Loop detected: the origin leads back to this proxy.' },
  unknown_account: { status: undefined, message: 'The account does not exist.' },
  unknown_key: { status: undefined, message: 'The key does not exist or is already revoked.' },
  unknown_request: { status: undefined, message: 'The log has no such request.' },
  unknown_ban: { status: undefined, message: 'No such ban is in force.' },
  unknown_observation: { status: undefined, message: 'The address has no override.' },
  edit_conflict: { status: undefined, message: 'Nothing was saved, because the content changed meanwhile. Reload it.' },
  edit_untagged: { status: undefined, message: 'Nothing was saved. Send the loaded ETag, or *, in If-Match.' },
  invalid_config: { status: undefined, message: 'The configuration is not valid.' },
  policy_test_failed: { status: undefined, message: 'The policy fails its tests.' },
  invalid_policy: { status: undefined, message: 'The policy is not valid.' },
  data_dir_unusable: { status: undefined, message: 'The data directory cannot be used.' },
  corrupt_data: { status: undefined, message: 'A data file is truncated, corrupt or in the wrong format.' },
  package_missing: { status: undefined, message: 'A package that the configuration needs is not installed.' },
  missing_data: { status: undefined, message: 'A requested data file does not exist.' },
  update_failed: { status: undefined, message: 'Some data could not be updated; the loaded data stays in use.' },
  ledger_refused: { status: undefined, message: 'The ledger contradicts its signed checkpoints, or its key.' },
  cannot_sign: { status: undefined, message: 'The message cannot be signed.' },
  cannot_listen: { status: undefined, message: 'The listen address is in use or not permitted.' },
} as const satisfies Record<string, { readonly status: number | undefined; readonly message: string }>

/** Names a code of the table: `SallyportError.code`, and `error` of a response, have one. */
export type ErrorCode = keyof typeof ERRORS

/** Adds facts of an error beside its message, as JSON. */
export type Details = Readonly<Record<string, unknown>>

/**
 * An error with a code from the table. `message` is for people, `code` for programs, as `invalid_config` or
 * `data_dir_unusable`; `details` is JSON or absent.
 *
 * @example
 * ```ts
 * import { open, SallyportError } from 'sallyport'
 *
 * const sallyport = await open()
 * try {
 *   await sallyport.lookup('300.1.2.3')
 * } catch (error) {
 *   if (error instanceof SallyportError) console.error(error.code)   // invalid_target
 * }
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/api.md#error-codes
 */
export class SallyportError extends Error {
  override readonly name = 'SallyportError'
  readonly code: ErrorCode
  readonly details: Details | undefined

  constructor(code: ErrorCode, message: string = ERRORS[code].message, details?: Details) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Makes the error of a request that has one wrong field, which `details` names in a list; `body`, `path` or `query` name a whole part. */
export function invalidField(field: string, message: string): SallyportError {
  return new SallyportError('invalid_request', `${field}: ${message}`, { fields: [{ field, message }] })
}
