import type { ClientLimit } from '@sallyport/accounts'

/** Who may call a route, and what a call counts against. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'client'; readonly limit: ClientLimit }
  | { readonly kind: 'key'; readonly metered: boolean }
