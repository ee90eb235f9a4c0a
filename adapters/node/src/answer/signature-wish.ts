import type { Decision } from '@sallyport/core'
import { isNamed } from '@sallyport/core/host'

/** Requests the signature that proves an agent, as the IETF working group defines it: draft-ietf-webbotauth-httpsig-protocol. */
const WISH = { 'accept-signature': 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"' }

const NONE: Readonly<Record<string, string>> = Object.freeze({})

/** Asks a refused program that did not sign for a signature (RFC 9421 section 5.1), with which a rule may let it in. */
export function signatureWish({ inspection }: Decision, fields: readonly string[]): Readonly<Record<string, string>> {
  const { agent } = inspection
  if (agent.class === 'human' || agent.identity?.verified === true) return NONE
  for (let at = 0; at < fields.length; at += 2) if (isNamed(fields[at] as string, 'signature-input')) return NONE
  return WISH
}
