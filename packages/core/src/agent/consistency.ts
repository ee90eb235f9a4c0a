import { isNamed } from '../address/forwarding.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectionRequest } from '../values/request.ts'
import { isPossibleFetch } from './fetch-metadata.ts'
import type { AgentFields } from './fields.ts'
import { inspectsTls, type Ja4 } from './ja4.ts'
import { AGAINST, BIT } from './signals.ts'
import type { BrowserFamily, Platform, UserAgent } from './user-agent.ts'

/** States what is known of a request. A fact that is not available is never suspicious. */
export interface Evidence extends Pick<InspectionRequest, 'method' | 'httpVersion' | 'http2Window'> {
  /** True where the visitor is known to have come over https. */
  readonly https: boolean
  /** No known proxy stands between: the order and case of names and what HTTP shows are the visitor's own. */
  readonly direct: boolean
  readonly fields: AgentFields
  /** Raw fields are as received; they are read only where `direct`. */
  readonly raw: readonly string[]
  /** The target is as received; absent where it is not known. */
  readonly target?: string | undefined
  readonly ja4?: Ja4 | undefined
  readonly network: NetworkFinding
}

/** Stands in for the user agent of a request without one. Its engine is not known, so no sign about an engine applies. */
const NAMELESS: UserAgent = {
  family: 'other',
  major: 0,
  platform: 'other',
  phone: false,
  embedded: false,
  iosApp: false,
  unknownProduct: false,
}

/** Returns the signs of a request without a user agent. Fields that fit a browser support nothing, as there is no browser to fit. */
export function readNamelessSignals(evidence: Evidence): number {
  return BIT['no-user-agent'] | (readSignals(NAMELESS, evidence) & AGAINST)
}

/** Returns the bits of all signals that a browser's request shows. Allocates nothing; each line is one row of the table. */
export function readSignals(userAgent: UserAgent, evidence: Evidence): number {
  const { family } = userAgent
  if (family === undefined) return 0
  let bits = hintSignals(userAgent, evidence.fields) | fetchSignals(evidence)
  bits |= connectionSignals(userAgent, evidence)
  // Other parts of the browser or of its system write these requests, and leave out most fields.
  if (!opensWebSocket(evidence) && !isReport(evidence) && !isHandedOn(userAgent, evidence)) {
    bits |= contentSignals(userAgent, evidence)
    if (evidence.https) bits |= absentHints(userAgent, evidence)
    else bits |= orderSignals(userAgent, evidence)
    if (evidence.direct) bits |= wireSignals(userAgent, evidence)
  }
  if (userAgent.unknownProduct) bits |= BIT['unknown-product']
  // Headers that agree support no client that copied a browser in part.
  return (bits & BIT['half-copied']) === 0 ? bits : bits & ~COPIED_SUPPORTS
}

const COPIED_SUPPORTS = BIT['hints-agree'] | BIT['fetch-metadata-agrees']

/** Lists the values of `Sec-CH-UA-Platform` for each platform, without the quotes. */
const PLATFORM_HINTS: Readonly<Partial<Record<Platform, readonly string[]>>> = {
  windows: ['Windows'],
  macos: ['macOS'],
  // Headsets write Linux where they run Android.
  linux: ['Linux', 'Chrome OS', 'Chromium OS', 'Android'],
  chromeos: ['Chrome OS', 'Chromium OS', 'Linux'],
  android: ['Android'],
}

function hintSignals({ family, major, platform, phone }: UserAgent, fields: AgentFields): number {
  const { brands, brandsMobile, brandsPlatform } = fields
  if (brands === undefined && brandsPlatform === undefined) return 0
  if (family === 'firefox' || family === 'safari') return BIT['foreign-hints']
  if (family !== 'chromium') return 0
  let bits = 0
  const named = brands === undefined ? 0 : chromiumMajor(brands)
  if (named !== 0 && major !== 0 && named !== major) bits |= BIT['chromium-version']
  const known = PLATFORM_HINTS[platform]
  if (
    brandsPlatform !== undefined &&
    known !== undefined &&
    isNamedPlatform(brandsPlatform) &&
    !isQuotedName(brandsPlatform, known)
  ) {
    bits |= BIT.platform
  }
  if (brandsMobile === '?0' && phone && platform === 'android') bits |= BIT['phone-hint']
  return bits === 0 && named !== 0 ? BIT['hints-agree'] : bits
}

const CHROMIUM_BRAND = '"Chromium";v="'

/** Returns the version of the brand `Chromium`, which every browser of the family names beside its own; 0 without one. */
function chromiumMajor(brands: string): number {
  const at = brands.indexOf(CHROMIUM_BRAND)
  if (at === -1) return 0
  let major = 0
  for (let index = at + CHROMIUM_BRAND.length; index < brands.length; index++) {
    const digit = brands.charCodeAt(index) - 48
    if (digit < 0 || digit > 9 || major > 9999) break
    major = major * 10 + digit
  }
  return major
}

/** Reports whether a quoted platform names any system: `""` and `"Unknown"` do not. */
function isNamedPlatform(quoted: string): boolean {
  return quoted.length > 2 && quoted !== '"Unknown"'
}

function isQuotedName(quoted: string, names: readonly string[]): boolean {
  for (const name of names) if (quoted.length === name.length + 2 && quoted.startsWith(name, 1)) return true
  return false
}

function fetchSignals({ fields, method }: Evidence): number {
  const { fetchSite, fetchMode, fetchDest, fetchUser, accept, purpose } = fields
  if (fetchSite === undefined || fetchMode === undefined || fetchDest === undefined) {
    // HTTP libraries send a mode alone, and so does Chromium with a CORS preflight over http. Middleboxes remove single fields.
    const isAlone = fetchMode !== undefined && fetchSite === undefined && fetchDest === undefined
    return isAlone && method !== 'OPTIONS' ? BIT['partial-fetch-metadata'] : 0
  }
  // Browsers send requests ahead of a navigation in forms of their own.
  if (purpose) return BIT['fetch-metadata-agrees']
  if (!isPossibleFetch(fetchMode, fetchDest, fetchUser)) return BIT['impossible-fetch-metadata']
  if (fetchDest === 'document' && accept === '*/*') return BIT['document-accepts-anything']
  return BIT['fetch-metadata-agrees']
}

const NEVER = Number.POSITIVE_INFINITY

/** Names the major version since which a family sends each feature. */
const SINCE: Readonly<
  Record<BrowserFamily, Readonly<Record<'hints' | 'fetch' | 'brotli' | 'alpn' | 'upgrade', number>>>
> = {
  chromium: { hints: 89, fetch: 80, brotli: 50, alpn: 38, upgrade: 44 },
  firefox: { hints: NEVER, fetch: 90, brotli: 44, alpn: 34, upgrade: 48 },
  // Safari 9 and 10 run on OS X 10.9 and 10.10 too, whose TLS negotiates no protocol.
  safari: { hints: NEVER, fetch: 17, brotli: 11, alpn: 11, upgrade: NEVER },
  other: { hints: NEVER, fetch: NEVER, brotli: NEVER, alpn: NEVER, upgrade: NEVER },
}

/** Returns the signs of fields that a browser over https never leaves out. Preflights carry no client hints. */
function absentHints({ family, major, embedded }: UserAgent, { fields, method }: Evidence): number {
  const since = SINCE[family ?? 'other']
  let bits = 0
  const hints = fields.brands === undefined && major >= since.hints && !embedded && method !== 'OPTIONS'
  if (hints) bits |= BIT['no-client-hints']
  if (fields.fetchMode === undefined && fields.fetchSite === undefined && major >= since.fetch) {
    // Applications fetch by libraries of their own under the name of a WebView, and Android downloads for them.
    if (embedded) bits |= BIT['no-fetch-metadata-of-application']
    else bits |= fields.brands === undefined ? BIT['no-fetch-metadata'] : BIT['no-fetch-metadata'] | BIT['half-copied']
  }
  return bits
}

/** A navigation has one of these destinations. */
const PAGES: ReadonlySet<string | undefined> = new Set([undefined, 'document', 'iframe', 'frame', 'fencedframe'])

/** A navigation sends this `Accept`; a script that wants HTML names it alone or beside everything. */
const PAGE_TYPES = 'text/html,application/xhtml+xml'

/**
 * Compares the field order of an older engine's page with the order of that engine: Chromium writes Accept-Encoding before Accept-Language,
 * Firefox after it. Only HTTP/1 shows the order, and proxies that add `Via` may change it.
 */
function orderSignals({ family }: UserAgent, { fields, raw, httpVersion }: Evidence): number {
  if ((family !== 'chromium' && family !== 'firefox') || fields.via || !httpVersion.startsWith('1')) return 0
  if (fields.accept?.includes(PAGE_TYPES) !== true) return 0
  let order = ''
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    if (name.length === 6 && isNamed(name, 'accept')) order += 'a'
    else if (name.length === 15 && isNamed(name, 'accept-encoding')) order += 'e'
    else if (name.length === 15 && isNamed(name, 'accept-language')) order += 'l'
  }
  return order.length === 3 && order !== ORDERS[family] ? BIT['foreign-order'] : 0
}

const ORDERS = { chromium: 'ael', firefox: 'ale' } as const

function contentSignals(userAgent: UserAgent, { fields, method, https }: Evidence): number {
  const { family, major, embedded } = userAgent
  const { acceptLanguage, accept, acceptEncoding, fetchDest, referred } = fields
  let bits = 0
  const plays = playsMedia(fields)
  const speaks = acceptLanguage !== undefined && acceptLanguage !== '' && acceptLanguage !== '*'
  if (speaks) bits |= BIT['speaks-a-language']
  else if (!plays) bits |= BIT['no-language']
  const unasked = fetchDest === undefined && !referred && !plays && (accept === undefined || accept === '*/*')
  if (method === 'GET' && (unasked || (fetchDest === 'document' && accept === undefined)))
    bits |= BIT['accepts-anything']
  // WebViews before 2025 do not accept brotli, and the libraries beside them accept any encodings.
  if (family !== 'other' && !plays && !embedded) {
    const plain = acceptEncoding === undefined || acceptEncoding === 'identity' || acceptEncoding === ''
    const brotli = https && major >= SINCE[family ?? 'other'].brotli && acceptEncoding?.includes('br') === false
    if (plain || brotli) bits |= BIT['no-compression']
  }
  return bits | wishSignals(userAgent, fields)
}

/** Returns the sign of a page request without Upgrade-Insecure-Requests, which every browser that says it navigates sends. */
function wishSignals({ family, major, embedded }: UserAgent, fields: AgentFields): number {
  const { accept, fetchDest, fetchMode, purpose, upgradeWish } = fields
  if (upgradeWish || purpose || major < SINCE[family ?? 'other'].upgrade || !PAGES.has(fetchDest)) return 0
  if (fetchMode === 'navigate' && fetchDest !== undefined && !embedded) {
    return BIT['no-upgrade-wish'] | BIT['half-copied']
  }
  return accept?.includes(PAGE_TYPES) === true ? BIT['no-upgrade-wish'] : 0
}

/** Reports whether a request opens a WebSocket: by HTTP/1.1, or by the CONNECT of HTTP/2 (RFC 8441), which browsers use only for that. */
function opensWebSocket({ fields, method }: Evidence): boolean {
  return fields.webSocket || method === 'CONNECT'
}

/** Reports whether Chromium reports about the site: without hints, fetch metadata and Accept (Reporting API, section 3.5). */
function isReport({ fields, method }: Evidence): boolean {
  return fields.report && method === 'POST'
}

/** A browser of Android gives files with these endings of the path to the system's player or download manager. */
const HANDED_ON = /\.(?:m3u8|mpd|ts|m4s|mp4|m4a|m4v|mp3|aac|ogg|oga|opus|webm|wav|flac|apk|zip|pdf|epub)(?:[?#]|$)/i

/**
 * Reports whether Android's player or download manager fetches a file for the browser. It sends only the browser's user agent and cookies
 * (AOSP DownloadThread, MediaPlayer), so no header distinguishes it from a script.
 */
function isHandedOn({ platform }: UserAgent, { fields, method, target }: Evidence): boolean {
  if (platform !== 'android' || method !== 'GET' || target === undefined) return false
  return fields.accept === undefined && fields.acceptLanguage === undefined && HANDED_ON.test(target)
}

/** Reports whether a request asks for a byte range, sound or film: players name no language, and want the file uncompressed. */
function playsMedia({ range, fetchDest, accept = '' }: AgentFields): boolean {
  if (range || fetchDest === 'audio' || fetchDest === 'video') return true
  return accept.includes('audio/') || accept.includes('video/')
}

/**
 * Reports whether TLS and HTTP/2 come from the engine that the user agent names. An application of iOS may fetch by a library of its own.
 * WebKit elsewhere uses the TLS of its system: GnuTLS of desktop Linux, which names no protocol, and that of consoles.
 */
function isOwnConnection({ family, platform, iosApp }: UserAgent): boolean {
  return !iosApp && (family !== 'safari' || platform === 'macos' || platform === 'ios')
}

function connectionSignals(userAgent: UserAgent, evidence: Evidence): number {
  const { family = 'other', major } = userAgent
  const { ja4, network } = evidence
  if (ja4 === undefined || family === 'other' || !isOwnConnection(userAgent)) return 0
  // Before HTTP/2 could carry WebSockets, browsers opened TLS for them without a protocol.
  const silent = ja4.silent && major >= SINCE[family].alpn && !opensWebSocket(evidence)
  if (!silent && (ja4.family === undefined || ja4.family === family)) return 0
  return inspectsTls(network) ? BIT['ja4-inspected'] : BIT['ja4-family']
}

/** Each engine writes pseudo-headers in this order, given by their second letters; only the start of Safari's is constant. */
const PSEUDO_ORDER: Readonly<Record<BrowserFamily, string>> = {
  chromium: 'masp',
  firefox: 'mpas',
  safari: 'ms',
  other: '',
}

/** Engines ask for these windows on large and on small devices; those of Safari change with its versions. */
const WINDOWS: Readonly<Partial<Record<BrowserFamily, readonly number[]>>> = {
  chromium: [6_291_456],
  firefox: [131_072, 32_768],
}

/** Returns at most one signal: an interceptor of TLS or a bad copy of a browser causes both. */
function http2Signals(family: BrowserFamily, { raw, http2Window, network }: Evidence): number {
  if (inspectsTls(network)) return 0
  const order = PSEUDO_ORDER[family]
  for (let place = 0; place < order.length; place++) {
    const name = raw[place * 2] ?? ''
    // A host that hides pseudo-headers leaves nothing to judge.
    if (!name.startsWith(':')) return 0
    if (name[1] !== order[place]) return BIT['h2-order']
  }
  const known = WINDOWS[family]
  return http2Window === undefined || known === undefined || known.includes(http2Window) ? 0 : BIT['h2-settings']
}

function wireSignals(userAgent: UserAgent, evidence: Evidence): number {
  const { family = 'other', major } = userAgent
  const { fields, raw, httpVersion } = evidence
  if (httpVersion.startsWith('2')) return isOwnConnection(userAgent) ? http2Signals(family, evidence) : 0
  if (family === 'other') return 0
  let bits = 0
  if (httpVersion === '1.0' && major >= SINCE[family].brotli) bits |= BIT['old-http']
  const first = raw[0]
  const oddOrder = httpVersion === '1.1' && first !== undefined && first !== 'Host'
  if (oddOrder || (fields.userAgentName !== undefined && fields.userAgentName !== 'User-Agent'))
    bits |= BIT['field-names']
  return bits
}
