import {
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
import type { AgentVerdict } from '../values/agent-verdict.ts'
import {
  GAME_OF_STEAM,
  goesOnAfterMark,
  hasCrawlersComment,
  hasUnknownProduct,
  isBareCompatible,
  isBareMozilla,
  isBrowserOfDesk,
  isDeskAlone,
  isEmbedded,
  isPlainSafari,
  isRenamedOnServer,
  MAIL_PROGRAM,
  mayBeOwned,
} from './user-agent-forms.ts'
import { listProducts, namesDevice, withoutModels, withoutTrimmings } from './user-agent-parts.ts'
import { describedAi, mailAddressIn, wordBesideBrowser, wordBesideDevice, wordIn } from './user-agent-words.ts'

/** The engine that a user agent says it has: every browser of iOS is Safari's. `other`: a browser of no known engine. */
export type BrowserFamily = 'chromium' | 'firefox' | 'safari' | 'other'

export type Platform = 'windows' | 'macos' | 'linux' | 'chromeos' | 'android' | 'ios' | 'other'

/** The sign that a user agent belongs to a program. */
interface ShownAutomation {
  /** The word that shows the program; absent where no word does, and only the form is unlike any browser's. */
  readonly name?: string | undefined
  readonly headless: boolean
}

/** Holds all facts of a user agent, without other fields. */
export interface UserAgent {
  /** Absent where the client is no browser. */
  readonly family?: BrowserFamily | undefined
  /** Major version of the engine, 0 when it cannot be read. */
  readonly major: number
  readonly platform: Platform
  /** The user agent claims a phone. */
  readonly phone: boolean
  /** A browser inside another program may leave out fields that a browser sends. */
  readonly embedded: boolean
  /** An application of iOS: outside of its web view, the system or its own library writes and encrypts its requests. */
  readonly iosApp: boolean
  /** A product that belongs to no browser and no known application follows a whole browser's. */
  readonly unknownProduct: boolean
  readonly automation?: ShownAutomation | undefined
  readonly ai?: AgentVerdict['ai']
  readonly crawler?: Crawler | undefined
}

const JAVA_PHONE = /MIDP|CLDC|J2ME|IEMobile/

/** Limits how many texts are remembered: a busy site sees some thousand, and a flood of made-up ones must not grow the process. */
const MAX_REMEMBERED = 5000

/** Reads user agents, and remembers each result by the text. */
export function createUserAgentReader(catalogue: Catalogue) {
  const remembered = new LRUCache<string, UserAgent>({ max: MAX_REMEMBERED })
  const parse = createParser(catalogue)
  return {
    /** Returns `undefined` where the header is missing or empty. */
    read(text: string | undefined): UserAgent | undefined {
      if (text === undefined || text === '') return undefined
      const found = remembered.get(text)
      if (found !== undefined) return found
      const read = parse(text.slice(0, MAX_CHARACTERS))
      // A longer text is read each time: a cache would keep the whole of it.
      if (text.length <= MAX_CHARACTERS) remembered.set(text, read)
      return read
    },
  }
}

function createParser(catalogue: Catalogue): (text: string) => UserAgent {
  const programs = createTokenMatcher(AUTOMATION.map(({ token }) => token))
  const monitors = createTokenMatcher(MONITORS)
  const apps = createTokenMatcher(APP_TOKENS)

  /** Finds the first program that is named; beside a device only as a product, for phones and applications have such names too. */
  function programIn(text: string, besideDevice: boolean, form: ApplicationForm | undefined) {
    const products = besideDevice ? listProducts(text) : text
    // Older phones say that they run Java.
    const isJavaPhone = besideDevice && JAVA_PHONE.test(text)
    for (let match = programs.find(products); match !== undefined; match = programs.find(products, match.end)) {
      const row = AUTOMATION[match.token]
      if (row !== undefined && !(isJavaPhone && row.token === 'Java') && sendsIn(form, row)) return row
    }
    return undefined
  }

  function findAutomation(whole: string, family: BrowserFamily | undefined): ShownAutomation | undefined {
    // An application's own client: a person uses most of them, so its name is no accusation.
    if (apps.find(whole) !== undefined || GAME_OF_STEAM.test(whole)) return undefined
    const text = withoutTrimmings(whole)
    const form = applicationForm(whole)
    const besideDevice = namesDevice(text) || isWebViewOfMac(text) || form !== undefined
    // An application may have the name of a suite, and no suite comes in the form of an application.
    const monitor = form === undefined ? monitors.find(besideDevice ? withoutModels(text) : text) : undefined
    if (monitor !== undefined) return { name: MONITORS[monitor.token], headless: false }
    const row = programIn(text, besideDevice, form)
    if (row !== undefined) return { name: row.token, headless: row.kind === 'headless' }
    const findWord = besideDevice ? wordBesideDevice : isBrowserOfDesk(text) ? wordBesideBrowser : wordIn
    const name = findWord(text) ?? mailAddressIn(text)
    if (name !== undefined) return { name, headless: name === 'headless' }
    // Televisions, consoles and applications seldom begin as a browser does; they name the device.
    const isUnlike = family === undefined && !besideDevice && !MAIL_PROGRAM.test(whole)
    const isOdd = isUnlike || isBareMozilla(whole) || isBareCompatible(whole) || isDeskAlone(whole)
    const isAdded =
      (!besideDevice && isRenamedOnServer(whole)) ||
      goesOnAfterMark(whole, besideDevice) ||
      (family !== undefined && hasCrawlersComment(text))
    return (isOdd && !mayBeOwned(whole)) || isAdded ? { headless: false } : undefined
  }

  return (text) => {
    const family = browserFamily(text)
    const platform = readPlatform(text)
    const crawler = catalogue.findClaim(text)
    const automation = findAutomation(text, family)
    const named = crawler && isAi(crawler) ? { name: crawler.name, vendor: crawler.operator } : undefined
    const ai = crawler === undefined ? automation && describedAi(text) : named
    return Object.freeze({
      family,
      major: readMajor(text, family),
      platform,
      phone: text.includes('Mobile') && !text.includes('iPad'),
      embedded: isEmbedded(text),
      // Every browser of iOS but Safari is an application.
      iosApp: platform === 'ios' && !isPlainSafari(text),
      unknownProduct: family !== undefined && family !== 'other' && hasUnknownProduct(text),
      ...(automation !== undefined && { automation: Object.freeze(automation) }),
      ...(ai !== undefined && { ai: Object.freeze(ai) }),
      crawler,
    })
  }
}

/** Reports whether a program sends this form, so that it is not an application of the same name. */
function sendsIn(form: ApplicationForm | undefined, { inApplications }: AutomationRow): boolean {
  return form === undefined || inApplications === true || inApplications === form
}

/** Reports whether a crawler of the catalogue works for an AI, by its purpose. */
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

/** Returns the family of a browser by the name that it gives itself; `undefined` for any other client. */
export function browserFamily(text: string): BrowserFamily | undefined {
  if (!startsLikeBrowser(text) || MAIL_PROGRAM.test(text)) return undefined
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

const MAJOR_BEFORE: Readonly<Record<BrowserFamily, readonly string[]>> = {
  chromium: ['Chrome/', 'Chromium/'],
  firefox: ['Firefox/'],
  safari: ['Version/', ' OS '],
  other: [],
}

function readMajor(text: string, family: BrowserFamily | undefined): number {
  for (const before of family === undefined ? [] : MAJOR_BEFORE[family]) {
    const at = text.indexOf(before)
    if (at !== -1) return Number.parseInt(text.slice(at + before.length, at + before.length + 4), 10) || 0
  }
  return 0
}

function readPlatform(text: string): Platform {
  if (text.includes('Windows')) return 'windows'
  if (text.includes('Android')) return 'android'
  if (text.includes('iPhone') || text.includes('iPad') || text.includes('iPod')) return 'ios'
  if (text.includes('Mac OS X') || text.includes('Macintosh')) return 'macos'
  if (text.includes('CrOS')) return 'chromeos'
  return text.includes('Linux') || text.includes('X11') ? 'linux' : 'other'
}
