import type { Route } from '../route.ts'
import { userLimits } from './account.ts'
import { agentscanCheck } from './agentscan.ts'
import { asn } from './asn.ts'
import { agentscanVerify, crawlersVerify } from './crawlers.ts'
import { directory, directoryEntry } from './directory.ts'
import { openapi } from './document.ts'
import { geo } from './geo.ts'
import { demo, lookup } from './lookup.ts'
import { myip } from './myip.ts'
import { proxy, vpn } from './network.ts'
import { provenanceCheck, provenanceExport, provenanceKeys } from './provenance.ts'
import { whois } from './whois.ts'

/** The route table of `/v1`, in the order of the specification. A route that is not here does not exist. */
export const ROUTES: readonly Route[] = [
  demo,
  myip,
  crawlersVerify,
  directory,
  directoryEntry,
  lookup,
  vpn,
  proxy,
  geo,
  asn,
  whois,
  agentscanCheck,
  agentscanVerify,
  provenanceCheck,
  provenanceExport,
  provenanceKeys,
  userLimits,
  openapi,
]
