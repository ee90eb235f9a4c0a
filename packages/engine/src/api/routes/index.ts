import type { Route } from '../route.ts'
import { userLimits } from './account.ts'
import { agentscanCheck, agentscanVerify, crawlersVerify } from './agents.ts'
import { directory, directoryEntry } from './directory.ts'
import { docs, index, openapi } from './document.ts'
import { demo, lookup, myip } from './lookup.ts'
import { asn, geo, proxy, vpn } from './network.ts'
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
  index,
  docs,
  openapi,
]
