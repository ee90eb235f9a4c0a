import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'

/** The answer to a proven crawler that is sent to another place; `undefined` for any other decision. Nobody else may be given it. */
export function redirectAnswer({ action, enforced, location }: Decision): ApiResponse | undefined {
  if (action !== 'redirect' || !enforced || location === undefined) return undefined
  return { status: 302, headers: { location, 'cache-control': 'no-store', vary: 'User-Agent' }, body: '' }
}
