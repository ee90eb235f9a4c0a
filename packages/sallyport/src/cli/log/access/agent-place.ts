import type { CommonLine } from './common-line.ts'
import { addressIn } from './reading.ts'

/**
 * Reads the user agent of lines of one log, of which these are the first; empty where none was sent. `undefined`: which
 * of the quoted texts it is is not clear. A log that is said to be in combined form is taken at its word.
 */
export function agentReader(
  first: readonly CommonLine[],
  { isSaid }: { readonly isSaid: boolean },
): (line: CommonLine) => string | undefined {
  const forms = new Map<number, (readonly Look[])[]>()
  for (const line of first) {
    const looks = textsOf(line).map(lookOf)
    const alike = forms.get(looks.length) ?? []
    alike.push(looks)
    forms.set(looks.length, alike)
  }
  const places = new Map([...forms].map(([count, lines]) => [count, placeIn(lines)]))
  return (line) => {
    const texts = textsOf(line)
    const looks = texts.map(lookOf)
    const named = line.quoted.filter((_, index) => AGENT_NAME.test(line.names[index] ?? ''))
    const place =
      isSaid && texts.length > COMBINED
        ? COMBINED
        : places.has(texts.length)
          ? places.get(texts.length)
          : placeIn([looks])
    const [agent, another] = named.length > 0 ? named : [place === undefined ? undefined : texts[place]]
    if (agent === undefined || another !== undefined || !line.isClean) return undefined
    // A line of another form beside those of the log, and one that a client made so.
    const isOutdone = lookOf(agent) !== 'agent' && [...looks, ...namedLooks(line)].includes('agent')
    return isOutdone ? undefined : agent
  }
}

/** Whether a line has a quoted text, behind the request, that can be a user agent. */
export function hasAgentPlace(line: CommonLine): boolean {
  const texts = textsOf(line)
  return texts.length > 1 || texts.some((text) => lookOf(text) === 'agent') || namedLooks(line).length > 0
}

/** Place of the user agent among the quoted texts of the combined form: behind the referrer. */
const COMBINED = 1

/** `ua="curl/8.5.0"`, `http_user_agent="…"` */
const AGENT_NAME = /^(?:http[_-])?(?:user[_-]?agent|u?agent|ua)$/i

/** Behind the request: status, bytes and referrer, and `-`, which some servers do not quote, for a user agent that was not sent. */
const ABSENT = /^ (?:\d{3}|-) (?:\d+|-) (?:"[^"]*"|-) -$/

/** The quoted texts behind the request that have no name. */
function textsOf({ quoted, names, rest }: CommonLine): readonly string[] {
  const texts = quoted.filter((_, index) => index > 0 && names[index] === undefined)
  return texts.length <= COMBINED && ABSENT.test(rest) ? [texts[0] ?? '-', '-'] : texts
}

function namedLooks({ quoted, names }: CommonLine): readonly Look[] {
  return quoted.filter((_, index) => index > 0 && names[index] !== undefined).map(lookOf)
}

/** The kind of a text, by its look alone: `other` can be a user agent in a log that has others in its place, and is one nowhere else. */
type Look = 'absent' | 'agent' | 'words' | 'word' | 'url' | 'other'

/** A product with its version. */
const PRODUCT = /^[A-Za-z][\w.!+-]*\/v?\d/

/** Names of programs that come without a version too. */
const PROGRAMS = `mozilla dalvik okhttp curl wget axios node undici java ruby python perl php go-http-client
  python-requests libwww-perl`.split(/\s+/)
const BOTS = ['bot', 'crawler', 'spider']

/** Whether a text has the words of a user agent; one that begins with a number is a Via. */
function isAgent(text: string): boolean {
  const words = text.split(/[\s,;()]+/)
  if (PROGRAMS.includes(words[0]?.toLowerCase() ?? '')) return true
  if (words.some((word) => BOTS.some((bot) => word.toLowerCase().endsWith(bot)))) return true
  return /^[a-z]/i.test(text) && words.some((word) => PRODUCT.test(word))
}

const OTHERS: readonly RegExp[] = [
  // Numbers, lengths of time and lists of them.
  /^[\d.,:\s-]+$/,
  // Versions of TLS and HTTP, ciphers, and states of a cache.
  /^(?:TLS|SSL|HTTP\/|ECDHE-|DHE-|AES\d)/,
  /^(?:MISS|HIT|BYPASS|EXPIRED|STALE|UPDATING|REVALIDATED)$/,
  // A request, a path, a kind of content, a host.
  /^[A-Z]+ \S+ HTTP\/\d/,
  /^\//,
  /^(?:text|image|application|audio|video|font|multipart|model)\/[\w.+-]+(?:;|$)/i,
  /^[\w-]+(?:\.[\w-]+)+$/,
  /^[\w.-]+:\d+$/,
]

function lookOf(text: string): Look {
  if (text === '' || text === '-') return 'absent'
  const words = text.split(/[\s,]+/)
  if (words.every((word) => addressIn(word) !== undefined)) return 'other'
  if (words.length === 1 && /^[a-z][a-z\d+.-]*:\/\//i.test(text)) return 'url'
  if (OTHERS.some((form) => form.test(text))) return 'other'
  if (isAgent(text)) return 'agent'
  return words.length > 1 ? 'words' : 'word'
}

/** Place of the user agent in lines of as many quoted texts, by what stands in each place; `undefined` where it is not clear. */
function placeIn(lines: readonly (readonly Look[])[]): number | undefined {
  const places = [...(lines[0] ?? []).keys()]
  const count = (place: number, ...looks: readonly Look[]) =>
    lines.filter((line) => looks.includes(line[place] ?? 'absent')).length
  const holdsAgents = (place: number) =>
    count(place, 'agent') > 0 && count(place, 'agent') >= count(place, 'url', 'other')
  if (places.length > COMBINED && holdsAgents(COMBINED)) return COMBINED
  const others = places.filter((place) => place !== COMBINED && holdsAgents(place))
  const [other] = others
  if (places.length <= COMBINED || others.length > 1) return others.length === 1 ? other : undefined
  const isForeign = count(COMBINED, 'url', 'other') > 0
  // A server's name behind a user agent that was not sent is none, nor is a referrer before it that looks like one.
  if (other !== undefined) {
    const isMoved = isForeign || (other > COMBINED && count(0, 'absent', 'url') < lines.length)
    return isMoved ? other : undefined
  }
  return isForeign || count(COMBINED, 'word') > 0 || count(0, 'other') > 0 ? undefined : COMBINED
}
