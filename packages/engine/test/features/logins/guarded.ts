import type { Test } from 'tap'
import type { ConfigInput } from '../../../src/config/service/index.ts'
import type { AccountEvent } from '../../../src/features/logins/read-event.ts'
import type { OpenHooks } from '../../../src/service/hooks.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { openService } from '../../open/opened.ts'
import { requestFrom } from '../../open/requests.ts'

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'
export const HOME = '8.1.0.1'
export const SECRET = 'a secret of more than thirty-two characters'
export const HOUR = 3_600_000
export const GUARD: ConfigInput['policy'] = { preset: 'observe', limits: ['account-guard'] }

/** Returns an address of another system for each number. */
export const stranger = (at: number) => `${11 + (at % 80)}.${(at >> 8) & 255}.${at & 255}.9`

/** Opens a service with account-guard; `assess` judges an event of Ada with a request from an address. */
export async function openGuarded(t: Test, more: ConfigInput = {}, hooks: OpenHooks = {}) {
  // A test with data of its own has written it into the folder already.
  const made = more.data === undefined ? madeConfig(t.testdir()) : {}
  const sallyport = await openService(t, { ...made, policy: GUARD, ...more }, hooks)
  const inspect = (peer: string, userAgent = FIREFOX) => {
    const fields = ['Host', 'shop.example', 'User-Agent', userAgent]
    const decision = sallyport.decide({ ...requestFrom(peer, fields), method: 'POST', target: '/login' })
    return { sallyport: decision, rawHeaders: fields }
  }
  const assess = (event: Partial<AccountEvent>, peer = HOME, userAgent = FIREFOX) =>
    sallyport.accounts.assess(inspect(peer, userAgent), { event: 'login', identifier: 'ada@shop.example', ...event })
  return { sallyport, assess, inspect }
}
