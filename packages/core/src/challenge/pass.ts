import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Address } from '../address/address.ts'
import type { ChallengeLevel, InspectedPass } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
import { type Asker, type AskerParts, areShort, describeAsker, readAskerParts } from './asker.ts'
import { findCookies } from './cookies.ts'
import { PASS_COOKIES } from './names.ts'
import type { PassNetworks } from './pass-networks.ts'
import type { ChallengeSecret, ChallengeSecrets } from './secrets.ts'
import type { ChallengesOptions } from './terms.ts'

/** Holds a pass as its cookie encodes it. */
export interface Pass extends Pick<Asker, 'browser' | 'tls'> {
  /** Identifies the pass by 8 bytes, as base64url. */
  readonly id: string
  readonly level: ChallengeLevel
  /** Times are in seconds since the epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** The pass was given to a home line. */
  readonly home: boolean
  readonly renewals: number
  readonly renewed: boolean
  /** True where waiting took the place of work. */
  readonly waited: boolean
}

/** Version 1 had no renewals, and only version 3 says how the pass was earned. */
const VERSIONS = [1, 2, 3]
const VERSION = 3

/** A pass that was earned by waiting in place of work expires after this time, in seconds. */
export const WAITED_PASS_SECONDS = 3_600

/** Limits the renewals of a pass in use: it ends after four times its lifetime, and a farm earns no more with it. */
export const RENEWALS = 3
const FIELDS = 23
const MAC = 16
const LENGTH = Math.ceil(((FIELDS + MAC) * 4) / 3)

/** Limits the cookies of one request that are read, and the passes that are remembered. */
const MAX_COOKIES = 4
const MAX_KEPT = 4_096

/** Limits how far machines' clocks may differ. */
const SKEW_SECONDS = 30

/** Returns the value of a pass's cookie (52 characters of base64url). */
export function sealPass(pass: Pass, secret: ChallengeSecret, host: string): string {
  const fields = Buffer.alloc(FIELDS)
  fields.writeUInt8(VERSION, 0)
  fields.writeUInt8(secret.id, 1)
  const marks = (pass.home ? HOME : 0) | (pass.renewed ? RENEWED : 0) | (pass.waited ? WAITED : 0)
  fields.writeUInt8(pass.level | (pass.renewals << LEFT) | marks, 2)
  fields.writeUInt32BE(pass.issuedAt, 3)
  fields.writeUInt32BE(pass.expiresAt, 7)
  fields.write(pass.id, 11, 8, 'base64url')
  fields.writeUInt16BE(pass.browser, 19)
  fields.writeUInt16BE(pass.tls, 21)
  return Buffer.concat([fields, secret.passMac(fields, host).subarray(0, MAC)]).toString('base64url')
}

/** The level's byte contains these bits. */
const HOME = 0x80
const WAITED = 0x20
const RENEWED = 0x10
const LEFT = 2
const LEVEL = 0x03

function openPass(bytes: Buffer, secrets: ChallengeSecrets, host: string): Pass | undefined {
  const fields = bytes.subarray(0, FIELDS)
  const isOurs = secrets.some(
    ({ id, passMac }) =>
      id === fields[1] && timingSafeEqual(passMac(fields, host).subarray(0, MAC), bytes.subarray(FIELDS)),
  )
  if (!VERSIONS.includes(fields[0] as number) || !isOurs) return undefined
  const marks = fields[2] as number
  const left = (marks >> LEFT) & RENEWALS
  const issuedAt = fields.readUInt32BE(3)
  const expiresAt = fields.readUInt32BE(7)
  // A wait earns an hour at most: an older pass that lasts longer was earned by work.
  const isOld = (fields[0] as number) < VERSION
  return {
    level: (marks & LEVEL) as ChallengeLevel,
    home: (marks & HOME) !== 0,
    // A secret on its way out renews nothing: passes that a leak of it let through end with it.
    renewals: fields[1] === secrets[0].id ? left : 0,
    renewed: isOld ? left < RENEWALS : (marks & RENEWED) !== 0,
    waited: isOld ? left === 0 && expiresAt - issuedAt <= WAITED_PASS_SECONDS : (marks & WAITED) !== 0,
    issuedAt,
    expiresAt,
    id: fields.subarray(11, 19).toString('base64url'),
    browser: fields.readUInt16BE(19),
    tls: fields.readUInt16BE(21),
  }
}

/** Reports whether the pass was issued to this client. Unknown fields are not compared. */
export function isOfAsker(pass: Pick<Asker, 'browser' | 'tls'>, { browser, tls }: Asker): boolean {
  return pass.browser === browser && (pass.tls === 0 || tls === 0 || pass.tls === tls)
}

/** Remembers the pass of a cookie for a request with such parts; absent where the cookie has none. */
interface Held extends AskerParts {
  readonly pass: Pass | undefined
  /** The pass as it was last shown: it stays the same for a second. */
  shown: InspectedPass | undefined
}

type WithPass = Held & { readonly pass: Pass }

/** Passes compare by the level first, then work before waiting, then the younger one. */
function worth({ level, waited, issuedAt }: Pass): number {
  return (level * 2 + (waited ? 0 : 1)) * 2 ** 32 + issuedAt
}

export function createPasses(
  secrets: ChallengeSecrets,
  networks: PassNetworks,
  isSecure: ChallengesOptions['isSecure'] = () => false,
) {
  const due = new WeakMap<InspectedPass, Pass>()
  const kept = new LRUCache<string, Held>({ max: MAX_KEPT })

  /** Decodes the pass of a cookie, if it belongs to the asker. Results are remembered, since the MAC takes longer than all else. */
  function decodePass(value: string, parts: AskerParts): Held | undefined {
    const { host, userAgent, ja4 } = parts
    const held = kept.get(value)
    if (held !== undefined && held.userAgent === userAgent && held.host === host && held.ja4 === ja4) return held
    const bytes = Buffer.from(value, 'base64url')
    const text = bytes.toString('base64url')
    if (bytes.length !== FIELDS + MAC || text !== value) return undefined
    const asker = describeAsker(parts)
    const opened = openPass(bytes, secrets, asker.host)
    const pass = opened !== undefined && isOfAsker(opened, asker) ? opened : undefined
    // The value is a piece of a line of cookies, and would keep the whole line in memory.
    const fresh = { host, userAgent, ja4, pass, shown: undefined }
    if (areShort(parts)) kept.set(text, fresh)
    return fresh
  }

  /** Finds the best valid pass of a request. Without the client's address its network is not counted. */
  function findPass(request: InspectionRequest, network: NetworkClass, now: number, from?: Address) {
    const values = findCookies(request.fields, PASS_COOKIES, MAX_COOKIES, () => isSecure(request))
    if (values.length === 0) return undefined
    const parts = readAskerParts(request)
    const found: WithPass[] = []
    const seconds = now / 1000
    for (const value of values) {
      const held = value.length === LENGTH ? decodePass(value, parts) : undefined
      const pass = held?.pass
      if (held === undefined || pass === undefined) continue
      if (pass.expiresAt <= seconds || pass.issuedAt - SKEW_SECONDS > seconds) continue
      if (pass.home && (anonymises(network) || network === 'hosting' || network === 'datacenter')) continue
      found.push(held as WithPass)
    }
    if (found.length > 1) found.sort((one, other) => worth(other.pass) - worth(one.pass))
    // A neighbour's pass that came from too many networks hides no pass behind it.
    const best = found.find(({ pass }) => from === undefined || networks.holds(pass.id, from, now))
    return best && shownAt(best, Math.max(0, Math.floor(seconds - best.pass.issuedAt)))
  }

  function shownAt(held: WithPass, age: number): InspectedPass {
    if (held.shown?.age === age) return held.shown
    const { id, level, issuedAt, expiresAt, renewals, renewed, waited } = held.pass
    const maxAge = expiresAt - issuedAt
    const shown = { id, level, age, maxAge, ...(renewed && { renewed }), ...(waited && { waited }) } as const
    held.shown = Object.freeze(shown)
    if (renewals > 0 && age * 2 >= maxAge) due.set(shown, held.pass)
    return shown
  }

  return {
    findPass,
    /**
     * Renews the pass of a request, as `findPass` returns it, for its full lifetime, once half of that is over. The id, level and bounds
     * stay, and budgets count on. Returns the value of its cookie, and its lifetime in seconds.
     */
    renew(inspected: InspectedPass, request: Pick<InspectionRequest, 'fields' | 'ja4'>, now: number) {
      const pass = due.get(inspected)
      if (pass === undefined) return undefined
      const issuedAt = Math.floor(now / 1000)
      const maxAge = pass.expiresAt - pass.issuedAt
      const next = { ...pass, issuedAt, expiresAt: issuedAt + maxAge, renewals: pass.renewals - 1, renewed: true }
      return { pass: sealPass(next, secrets[0], describeAsker(readAskerParts(request)).host), maxAge }
    },
  }
}
