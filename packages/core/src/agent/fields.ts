import { isNamed } from '../address/forwarding.ts'

/** Names are in lower case. */
const NAMES = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'origin',
  'purpose',
  'range',
  'referer',
  'sec-purpose',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'signature',
  'signature-input',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'cf-connecting-ip',
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-real-ip',
] as const
type Name = (typeof NAMES)[number]

/** A name, in any case, is known by its length and its fourth letter from the end: no two of `NAMES` have both. */
function hashName(name: string): number {
  const { length } = name
  return (length << 5) | (name.charCodeAt(length < 4 ? 0 : length - 4) & 31)
}

/** Indexes names by their hash, with the form in which clients mostly write them (`User-Agent`): any field costs one lookup. */
const BY_MARK = Array.from({ length: (Math.max(...NAMES.map(({ length }) => length)) + 1) << 5 }, (_, mark) => {
  const name = NAMES.find((name) => hashName(name) === mark)
  return name && { name, written: name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()) }
})

function findName(field: string): Name | undefined {
  const wanted = BY_MARK[hashName(field)]
  if (wanted === undefined) return undefined
  // Comparing whole texts is several times as fast as letter by letter.
  return field === wanted.written || field === wanted.name || isNamed(field, wanted.name) ? wanted.name : undefined
}

/** The presence of these fields is enough. */
const BY_PRESENCE: ReadonlySet<Name> = new Set<Name>([
  ...(['origin', 'range', 'referer', 'purpose', 'sec-purpose', 'signature', 'signature-input'] as const),
  ...(['upgrade-insecure-requests', 'via', 'x-forwarded-for', 'x-real-ip', 'cf-connecting-ip'] as const),
])

/** Reports whether the value of a field, rather than its presence, counts in an agent verdict. */
export function valueCounts(field: string): boolean {
  const name = findName(field)
  return name !== undefined && !BY_PRESENCE.has(name)
}

/** Makes the fields of a request that sent none, in one literal, so that all have one hidden class. */
function noFields() {
  const none = undefined as string | undefined
  return {
    userAgent: none,
    accept: none,
    acceptLanguage: none,
    acceptEncoding: none,
    brands: none,
    brandsMobile: none,
    brandsPlatform: none,
    fetchSite: none,
    fetchMode: none,
    fetchDest: none,
    fetchUser: none,
    /** Upgrade asks for a WebSocket; programs ask for other protocols too. */
    webSocket: false,
    /** Sec-Purpose, Range, Referer, Origin, Upgrade-Insecure-Requests and Via: their presence is enough. */
    purpose: false,
    range: false,
    referred: false,
    upgradeWish: false,
    /** The body is a report that the browser sends about the site. */
    report: false,
    via: false,
    /** A field that only proxies write is there. */
    forwarded: false,
    /** An HTTP message signature has two halves, each a field. */
    signature: false,
    signatureInput: false,
    /** The name of the User-Agent field as the client wrote it. */
    userAgentName: none,
  }
}

/** Holds the header fields that agent verdicts use, read in one pass. Of a repeated field the first counts. */
export type AgentFields = ReturnType<typeof noFields>

/** Reads raw header fields (name, value, name, value …) in one pass. */
export function readAgentFields(fields: readonly string[]): AgentFields {
  const read = noFields()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string
    const name = findName(field)
    if (name === undefined) continue
    const value = fields[at + 1] as string
    switch (name) {
      case 'user-agent':
        if (read.userAgent !== undefined) break
        read.userAgent = value
        read.userAgentName = field
        break
      case 'accept':
        read.accept ??= value
        break
      case 'accept-language':
        read.acceptLanguage ??= value
        break
      case 'accept-encoding':
        read.acceptEncoding ??= value
        break
      case 'sec-ch-ua':
        read.brands ??= value
        break
      case 'sec-ch-ua-mobile':
        read.brandsMobile ??= value
        break
      case 'sec-ch-ua-platform':
        read.brandsPlatform ??= value
        break
      case 'sec-fetch-site':
        read.fetchSite ??= value
        break
      case 'sec-fetch-mode':
        read.fetchMode ??= value
        break
      case 'sec-fetch-dest':
        read.fetchDest ??= value
        break
      case 'sec-fetch-user':
        read.fetchUser ??= value
        break
      case 'origin':
      case 'referer':
        read.referred = true
        break
      case 'purpose':
      case 'sec-purpose':
        read.purpose = true
        break
      case 'range':
        read.range = true
        break
      case 'content-type':
        read.report = value === 'application/reports+json'
        break
      case 'upgrade-insecure-requests':
        read.upgradeWish = true
        break
      case 'via':
        read.via = true
        read.forwarded = true
        break
      case 'upgrade':
        read.webSocket ||= /\bwebsocket\b/i.test(value)
        break
      case 'signature':
        read.signature = true
        break
      case 'signature-input':
        read.signatureInput = true
        break
      default:
        read.forwarded = true
    }
  }
  return read
}
