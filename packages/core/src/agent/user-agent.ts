import {
  AI_TOKENS,
  APP_TOKENS,
  AUTOMATION,
  type AutomationRow,
  BROWSER_STARTS,
  FETCHERS_WITHOUT_AI,
  MONITORS,
} from '@sallyport/data/automation'
import { LRUCache } from 'lru-cache'
import { type ApplicationForm, applicationForm, isWebViewOfMac } from '../crawler/application.ts'
import type { Catalogue, Crawler } from '../crawler/catalogue.ts'
import { createTokenMatcher, MAX_CHARACTERS } from '../crawler/token-matcher.ts'
import {
  goesOnAfterMark,
  hasUnknownProduct,
  isBareCompatible,
  isBareMozilla,
  isBrowserOfDesk,
  isDeskAlone,
  isEmbedded,
  isGameOfSteam,
  isMailProgram,
  isPlainSafari,
  isRenamedOnServer,
  mayBeOwned,
} from './user-agent-forms.ts'
import { namesDevice, productsOf, withoutModels, withoutTrimmings } from './user-agent-parts.ts'
import { mailAddressIn, wordBesideBrowser, wordBesideDevice, wordIn } from './user-agent-words.ts'

/** The engine that a user agent says it has: every browser of iOS is Safari's. `other`: a browser of no known engine. */
export type BrowserFamily = 'chromium' | 'firefox' | 'safari' | 'other'

export type Platform = 'windows' | 'macos' | 'linux' | 'chromeos' | 'android' | 'ios' | 'other'

/** The sign that a user agent is a program's. */
export interface ShownAutomation {
  /** The word that says so; absent where there is none, and it is written as no browser writes one. */
  readonly name?: string | undefined
  readonly headless: boolean
}

/** An AI that a user agent names, and whose it is. */
export interface NamedAi {
  readonly name: string
  readonly vendor: string
}

/** All that a user agent says, without other fields. */
export interface UserAgent {
  /** Absent for what is no browser. */
  readonly family?: BrowserFamily | undefined
  /** Major version of the engine, 0 when it cannot be read. */
  readonly major: number
  readonly platform: Platform
  /** It says it is a phone. */
  readonly phone: boolean
  /** A browser inside another program, which may leave out what a browser sends. */
  readonly embedded: boolean
  /** An application of iOS: what it fetches outside of its web view, the system's or its own library writes and encrypts. */
  readonly iosApp: boolean
  /** A product that is no browser's and no known application's stands behind a whole browser's. */
  readonly unknownProduct: boolean
  readonly automation?: ShownAutomation | undefined
  readonly ai?: NamedAi | undefined
  readonly crawler?: Crawler | undefined
}

/** Reads user agents; what was read is remembered by the text. */
export interface UserAgentReader {
  /** `undefined`: there is no such header, or it is empty. */
  read(text: string | undefined): UserAgent | undefined
}

const JAVA_PHONE = /MIDP|CLDC|J2ME|IEMobile/

/** Texts that are remembered: a busy site sees some thousand, and a flood of made ones must not grow the process. */
const MAX_REMEMBERED = 5000

export function createUserAgentReader(catalogue: Catalogue): UserAgentReader {
  const remembered = new LRUCache<string, UserAgent>({ max: MAX_REMEMBERED })
  const parse = createParser(catalogue)
  return {
    read(text) {
      if (text === undefined || text === '') return undefined
      const found = remembered.get(text)
      if (found !== undefined) return found
      const read = parse(text.slice(0, MAX_CHARACTERS))
      // A longer one is read each time: remembering it would keep the whole of it.
      if (text.length <= MAX_CHARACTERS) remembered.set(text, read)
      return read
    },
  }
}

function createParser(catalogue: Catalogue): (text: string) => UserAgent {
  const programs = createTokenMatcher(AUTOMATION.map(({ token }) => token))
  const monitors = createTokenMatcher(MONITORS)
  const ais = createTokenMatcher(AI_TOKENS.map(({ token }) => token))
  const apps = createTokenMatcher(APP_TOKENS)

  /** The AI that a text names: one of the catalogue's, else one known by its name alone. */
  function aiOf(text: string, crawler: Crawler | undefined): NamedAi | undefined {
    if (crawler !== undefined) {
      return isAi(crawler) ? { name: crawler.name, vendor: crawler.operator } : undefined
    }
    for (let match = ais.find(text); match !== undefined; match = ais.find(text, match.end)) {
      const row = AI_TOKENS[match.token]
      const isApplication = row?.application === true && applicationForm(text) !== undefined
      if (row !== undefined && !isApplication) return { name: row.token, vendor: row.vendor }
    }
    return undefined
  }

  /** The first program that is named; beside a device only as a product, for phones and applications have such names too. */
  function programIn(text: string, besideDevice: boolean, form: ApplicationForm | undefined) {
    const products = besideDevice ? productsOf(text) : text
    // Phones of an older kind name it as what they run.
    const isJavaPhone = besideDevice && JAVA_PHONE.test(text)
    for (let match = programs.find(products); match !== undefined; match = programs.find(products, match.end)) {
      const row = AUTOMATION[match.token]
      if (row !== undefined && !(isJavaPhone && row.token === 'Java') && sendsIn(form, row)) return row
    }
    return undefined
  }

  function automationOf(whole: string, family: BrowserFamily | undefined): ShownAutomation | undefined {
    // An application's own client: most are used by a person, so its name is no accusation.
    if (apps.find(whole) !== undefined || isGameOfSteam(whole)) return undefined
    const text = withoutTrimmings(whole)
    const form = applicationForm(whole)
    const besideDevice = namesDevice(text) || isWebViewOfMac(text) || form !== undefined
    // An application may be called as a suite is, and no suite comes in the form of one.
    const monitor = form === undefined ? monitors.find(besideDevice ? withoutModels(text) : text) : undefined
    if (monitor !== undefined) return { name: MONITORS[monitor.token], headless: false }
    const row = programIn(text, besideDevice, form)
    if (row !== undefined) return { name: row.token, headless: row.kind === 'headless' }
    const wordOf = besideDevice ? wordBesideDevice : isBrowserOfDesk(text) ? wordBesideBrowser : wordIn
    const name = wordOf(text) ?? mailAddressIn(text)
    if (name !== undefined) return { name, headless: name === 'headless' }
    // Televisions, consoles and applications seldom begin as a browser does; they name the device.
    const isUnlike = family === undefined && !besideDevice && !isMailProgram(whole)
    const isOdd = isUnlike || isBareMozilla(whole) || isBareCompatible(whole) || isDeskAlone(whole)
    const isAdded = (!besideDevice && isRenamedOnServer(whole)) || goesOnAfterMark(whole, besideDevice)
    return (isOdd && !mayBeOwned(whole)) || isAdded ? { headless: false } : undefined
  }

  return (text) => {
    const family = browserFamily(text)
    const crawler = catalogue.claimOf(text)
    const ai = aiOf(text, crawler)
    const automation = automationOf(text, family)
    return Object.freeze({
      family,
      major: majorOf(text, family),
      platform: platformOf(text),
      phone: text.includes('Mobile') && !text.includes('iPad'),
      embedded: isEmbedded(text),
      iosApp: isIosApp(text),
      unknownProduct: family !== undefined && family !== 'other' && hasUnknownProduct(text),
      ...(automation !== undefined && { automation: Object.freeze(automation) }),
      ...(ai !== undefined && { ai: Object.freeze(ai) }),
      crawler,
    })
  }
}

/** Whether a program comes in this form, and it is not an application of its name. */
function sendsIn(form: ApplicationForm | undefined, { inApplications }: AutomationRow): boolean {
  return form === undefined || inApplications === true || inApplications === form
}

/** Whether a crawler of the catalogue works for an AI: by what it fetches for. */
export function isAi({ slug, purpose }: Pick<Crawler, 'slug' | 'purpose'>): boolean {
  switch (purpose) {
    case 'training':
    case 'ai-search':
    case 'agent':
      return true
    case 'user-fetch':
      return !FETCHERS_WITHOUT_AI.includes(slug)
    default:
      return false
  }
}

/** The family of a browser by the name that it gives itself; `undefined` for what is none. */
export function browserFamily(text: string): BrowserFamily | undefined {
  if (!startsLikeBrowser(text) || isMailProgram(text)) return undefined
  if (text.includes('CriOS/') || text.includes('FxiOS/') || text.includes('EdgiOS/')) return 'safari'
  if (text.includes('Edge/') || text.includes('Trident/') || text.includes('MSIE ')) return 'other'
  if (text.includes('AppleWebKit/')) {
    if (text.includes('Chrome/') || text.includes('Chromium/')) return 'chromium'
    return text.includes('Version/') && text.includes('Safari/') && !text.includes('Android') ? 'safari' : 'other'
  }
  return text.includes('Gecko/') && text.includes('Firefox/') && !text.includes('Seamonkey') ? 'firefox' : 'other'
}

const FOLDED_STARTS = BROWSER_STARTS.map((start) => start.toLowerCase())

function startsLikeBrowser(text: string): boolean {
  const folded = text.toLowerCase()
  return FOLDED_STARTS.some((start) => folded.startsWith(start))
}

/** Whether it is of iOS and not the user agent of Safari: every other browser there is an application. */
function isIosApp(text: string): boolean {
  return platformOf(text) === 'ios' && !isPlainSafari(text)
}

const MAJOR_BEFORE: Readonly<Record<BrowserFamily, readonly string[]>> = {
  chromium: ['Chrome/', 'Chromium/'],
  firefox: ['Firefox/'],
  safari: ['Version/', ' OS '],
  other: [],
}

function majorOf(text: string, family: BrowserFamily | undefined): number {
  for (const before of family === undefined ? [] : MAJOR_BEFORE[family]) {
    const at = text.indexOf(before)
    if (at !== -1) return Number.parseInt(text.slice(at + before.length, at + before.length + 4), 10) || 0
  }
  return 0
}

function platformOf(text: string): Platform {
  if (text.includes('Windows')) return 'windows'
  if (text.includes('Android')) return 'android'
  if (text.includes('iPhone') || text.includes('iPad') || text.includes('iPod')) return 'ios'
  if (text.includes('Mac OS X') || text.includes('Macintosh')) return 'macos'
  if (text.includes('CrOS')) return 'chromeos'
  return text.includes('Linux') || text.includes('X11') ? 'linux' : 'other'
}
