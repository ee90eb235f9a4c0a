import table from './automation.json' with { type: 'json' }

/** A program that says in its user agent what it is: a library, a tool or a browser driven by a program. */
export interface AutomationRow {
  /** Word of the user agent, whole; the case does not count. */
  readonly token: string
  /** `headless` is a browser without a person in front of it. */
  readonly kind: 'library' | 'headless'
  /**
   * True where it comes in the form of an application too, `electron` where in that of Electron alone. In such a form every other
   * token is the name of an application that people have.
   */
  readonly inApplications?: true | 'electron' | undefined
}

export const AUTOMATION: readonly AutomationRow[] = table.automation as readonly AutomationRow[]
/** Suites that watch, measure and test sites from servers: most send a whole browser's user agent with this beside it. */
export const MONITORS: readonly string[] = table.monitors
/** Words that are of programs alone, in the name of a product too. */
export const SURE_WORDS: readonly string[] = table.sureWords
/** Parts of words by which programs call themselves programs; some of them are applications' for people too. */
export const AUTOMATION_WORDS: readonly string[] = [...table.sureWords, ...table.words]
/** Starts of user agents that people's browsers have; anything else is a program. */
export const BROWSER_STARTS: readonly string[] = table.browserStarts
/** Clients that applications on people's devices are built on: a program in form, a person behind most of it. */
export const APP_TOKENS: readonly string[] = table.apps
/** Names of people's devices, of the systems on them, and of players and applications' frames; the case does not count. */
export const DEVICE_NAMES: readonly string[] = table.devices
/** Names of systems of phones, tablets, watches and boxes below a television: no program on a server has one of them. */
export const PHONE_NAMES: readonly string[] = table.phones
/** Parts of names of players and of phones, in lower case: hardly any crawler's name has them. */
export const DEVICE_WORDS: readonly string[] = table.deviceWords
/** Parts of what user agents say of the machine and of the engine: a user agent that says neither is no browser's. */
export const PLATFORM_PARTS: readonly string[] = table.platforms
export const ENGINE_PARTS: readonly string[] = table.engines
/** Products that are written beside a browser's own: browsers, applications with a web view, systems. */
export const PRODUCTS: readonly string[] = table.products
/** Slugs of the crawler catalogue that fetch for a user and are no AI. */
export const FETCHERS_WITHOUT_AI: readonly string[] = table.fetchersWithoutAi
