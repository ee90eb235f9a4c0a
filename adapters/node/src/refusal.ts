import type { ApiResponse } from '@sallyport/api'
import { type Decision, ERRORS, type ErrorCode, type InspectionRequest, type PathFault } from '@sallyport/core'
import { prefersHtml } from './accept.ts'

/** A response in place of what was asked for; never streamed. */
export interface Refusal extends ApiResponse {
  readonly body: string
}

/**
 * The 403 of a blocked request: an ErrorResponse with the ids of the reasons, or a page of its own where the request
 * would rather have HTML. Not to be cached: the next request may be decided differently.
 */
export function refusal(decision: Decision, request: Pick<InspectionRequest, 'fields'>): Refusal {
  const { status, message } = ERRORS.request_blocked
  const reasons = decision.reasons.map(({ id }) => id)
  if (prefersHtml(request.fields)) {
    return { status, headers: { ...HEADERS, ...PAGE_HEADERS }, body: page(message, reasons) }
  }
  const details = reasons.length === 0 ? {} : { details: { reasons } }
  return jsonRefusal(status, { error: 'request_blocked', message, ...details })
}

/** The answer to a request that fails with a code of the error table, without its detail. */
export function failureRefusal(code: ErrorCode): Refusal {
  const { status = 500, message } = ERRORS[code]
  const response = jsonRefusal(status, { error: code, message })
  return status === 503 ? { ...response, headers: { ...response.headers, 'retry-after': '5' } } : response
}

/** The 431 of a request with so many header fields that some of them may not have been seen. */
export function tooManyFields(): Refusal {
  return jsonRefusal(431, { error: 'invalid_request', message: 'The request has too many header fields.' })
}

/** The 400 of a target that servers read in several ways. */
export function ambiguousPath(fault: PathFault): Refusal {
  return jsonRefusal(400, { error: 'invalid_request', message: `The path holds ${fault}.` })
}

/** The 400 of a request for the API with an absolute target. */
export function absoluteTarget(): Refusal {
  return jsonRefusal(400, {
    error: 'invalid_request',
    message: 'The target is not a path that starts with one slash.',
  })
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}

function jsonRefusal(status: number, body: Readonly<Record<string, unknown>>): Refusal {
  return {
    status,
    headers: { ...HEADERS, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  }
}

function page(message: string, reasons: readonly string[]): string {
  const items = reasons.map((id) => `<li><code>${escapeHtml(id)}</code></li>`).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Request blocked</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem }
ul { padding-left: 1.2rem }
</style>
</head>
<body>
<main>
<h1>Request blocked</h1>
<p>${escapeHtml(message)}</p>
${items === '' ? '' : `<p>If you write to the site's owner, give these reasons:</p>\n<ul>${items}</ul>\n`}</main>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
