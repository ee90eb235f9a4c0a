import { isNamed } from '../address/forwarding.ts'

/** The header fields that tell who asks, found in one pass. Of a field that came twice the first counts. */
export interface AgentFields {
  userAgent: string | undefined
  accept: string | undefined
  acceptLanguage: string | undefined
  acceptEncoding: string | undefined
  brands: string | undefined
  brandsMobile: string | undefined
  brandsPlatform: string | undefined
  fetchSite: string | undefined
  fetchMode: string | undefined
  fetchDest: string | undefined
  fetchUser: string | undefined
  forwardedProto: string | undefined
  /** Sec-Purpose, Upgrade, Referer, Origin, Cookie: that they are there is enough. */
  purpose: boolean
  upgrade: boolean
  referred: boolean
  cookie: boolean
  /** A field that only proxies write. */
  forwarded: boolean
  /** Both halves of an HTTP message signature. */
  signature: boolean
  signatureInput: boolean
  /** The name of the User-Agent field as it was written. */
  userAgentName: string | undefined
}

/** Reads raw header fields (name, value, name, value …). Names are told by their length first: most cost one look. */
export function readAgentFields(fields: readonly string[]): AgentFields {
  const read: AgentFields = {
    userAgent: undefined,
    accept: undefined,
    acceptLanguage: undefined,
    acceptEncoding: undefined,
    brands: undefined,
    brandsMobile: undefined,
    brandsPlatform: undefined,
    fetchSite: undefined,
    fetchMode: undefined,
    fetchDest: undefined,
    fetchUser: undefined,
    forwardedProto: undefined,
    purpose: false,
    upgrade: false,
    referred: false,
    cookie: false,
    forwarded: false,
    signature: false,
    signatureInput: false,
    userAgentName: undefined,
  }
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] as string
    const value = fields[at + 1] as string
    switch (name.length) {
      case 3:
        if (isNamed(name, 'via')) read.forwarded = true
        break
      case 6:
        if (isNamed(name, 'accept')) read.accept ??= value
        else if (isNamed(name, 'cookie')) read.cookie = true
        else if (isNamed(name, 'origin')) read.referred = true
        break
      case 7:
        if (isNamed(name, 'upgrade')) read.upgrade = true
        else if (isNamed(name, 'referer')) read.referred = true
        else if (isNamed(name, 'purpose')) read.purpose = true
        break
      case 9:
        if (isNamed(name, 'sec-ch-ua')) read.brands ??= value
        else if (isNamed(name, 'signature')) read.signature = true
        else if (isNamed(name, 'forwarded') || isNamed(name, 'x-real-ip')) read.forwarded = true
        break
      case 10:
        if (read.userAgent === undefined && isNamed(name, 'user-agent')) {
          read.userAgent = value
          read.userAgentName = name
        }
        break
      case 11:
        if (isNamed(name, 'sec-purpose')) read.purpose = true
        break
      case 14:
        if (isNamed(name, 'sec-fetch-site')) read.fetchSite ??= value
        else if (isNamed(name, 'sec-fetch-mode')) read.fetchMode ??= value
        else if (isNamed(name, 'sec-fetch-dest')) read.fetchDest ??= value
        else if (isNamed(name, 'sec-fetch-user')) read.fetchUser ??= value
        break
      case 15:
        if (isNamed(name, 'accept-language')) read.acceptLanguage ??= value
        else if (isNamed(name, 'accept-encoding')) read.acceptEncoding ??= value
        else if (isNamed(name, 'signature-input')) read.signatureInput = true
        else if (isNamed(name, 'x-forwarded-for')) read.forwarded = true
        break
      case 16:
        if (isNamed(name, 'sec-ch-ua-mobile')) read.brandsMobile ??= value
        else if (isNamed(name, 'cf-connecting-ip')) read.forwarded = true
        break
      case 17:
        if (isNamed(name, 'x-forwarded-proto')) {
          read.forwardedProto ??= value
          read.forwarded = true
        }
        break
      case 18:
        if (isNamed(name, 'sec-ch-ua-platform')) read.brandsPlatform ??= value
        break
    }
  }
  return read
}
