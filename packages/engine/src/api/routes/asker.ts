import { nameClient } from '@sallyport/core'
import type { RouteContext } from '../route.ts'

/** Names the party that looks up names: the account, however many addresses it calls from, else the client. */
export function nameAsker({ request, services, allowance }: RouteContext): string {
  return allowance === undefined ? nameClient(services.client(request).address) : `account ${allowance.account.id}`
}
