import type { Test } from 'tap'
import type { ConfigInput } from '../../../src/open/index.ts'
import { openService } from '../../open/opened.ts'
import { requestFrom } from '../../open/requests.ts'

/** Opens a service; `of` answers with the action at an address, and `notices` has what is said of lists. */
export async function openListed(t: Test, config: ConfigInput) {
  const notices: string[] = []
  const sallyport = await openService(t, config, {
    onNotice: (code, message) => code === 'SALLYPORT_LIST' && void notices.push(message),
  })
  const of = (peer: string): string => sallyport.decide(requestFrom(peer)).action
  return { sallyport, notices, of }
}
