import type { Route } from '../route.ts'
import { userLimits } from './account.ts'
import { asn } from './asn.ts'
import { directory, directoryEntry } from './directory.ts'
import { openapi } from './document.ts'
import { geo } from './geo.ts'
import { demo, lookup } from './lookup.ts'
import { myip } from './myip.ts'
import { proxy, vpn } from './network.ts'

/** The route table of `/v1`, in the order of the specification. A route that is not here does not exist. */
export const ROUTES: readonly Route[] = [
  demo,
  myip,
  directory,
  directoryEntry,
  lookup,
  vpn,
  proxy,
  geo,
  asn,
  userLimits,
  openapi,
]
