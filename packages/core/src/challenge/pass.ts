import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Address } from '../address/address.ts'
import type { ChallengeLevel, InspectedPass } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
import { type Asker, type AskerParts, areShort, askerOf, askerPartsOf } from './asker.ts'
import { cookiesOf } from './cookies.ts'
import { PASS_COOKIES } from './names.ts'
import type { PassNetworks } from './pass-networks.ts'
import type { ChallengeSecret } from './secrets.ts'
import type { ChallengesOptions } from './terms.ts'

/** A pass, as its cookie says it. */
export interface Pass extends Pick<Asker, 'browser' | 'tls'> {
  /** 8 bytes, as base64url. */
  readonly id: string
  readonly level: ChallengeLevel
  /** Seconds since the epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** It was given to a home line. */
  readonly home: boolean
  /** Times that it may still be renewed. */
  readonly renewals: number
  /** Whether the pass was renewed. */
  readonly renewed: boolean
  /** Whether the client waited for the pass in place of work. */
  readonly waited: boolean
}

/** Version 1 had no renewals, and none before 3 says how it was earned. */
const VERSIONS = [1, 2, 3]
const VERSION = 3

/** Seconds that a pass holds that was waited for in place of work. */
export const WAITED_PASS_SECONDS = 3_600

/** A pass in use is renewed so many times: it ends after four times its time, and a farm earns no more with it. */
export const RENEWALS = 3
const FIELDS = 23
const MAC = 16
const LENGTH = Math.ceil(((FIELDS + MAC) * 4) / 3)

/** Cookies of one request that are looked at, and passes that are remembered. */
const MAX_COOKIES = 4
const MAX_KEPT = 4_096

/** Machines' clocks differ by so much at most. */
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

/** Bits of the level's byte. */
const HOME = 0x80
const WAITED = 0x20
const RENEWED = 0x10
const LEFT = 2
const LEVEL = 0x03

function openPass(bytes: Buffer, secrets: readonly ChallengeSecret[], host: string): Pass | undefined {
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
  // A wait earns an hour at most: an older pass that holds for longer was earned by work.
  const isOld = (fields[0] as number) < VERSION
  return {
    level: (marks & LEVEL) as ChallengeLevel,
    home: (marks & HOME) !== 0,
    // A secret that is on its way out renews nothing: what it may have let through ends with it.
    renewals: fields[1] === secrets[0]?.id ? left : 0,
    renewed: isOld ? left < RENEWALS : (marks & RENEWED) !== 0,
    waited: isOld ? left === 0 && expiresAt - issuedAt <= WAITED_PASS_SECONDS : (marks & WAITED) !== 0,
    issuedAt,
    expiresAt,
    id: fields.subarray(11, 19).toString('base64url'),
    browser: fields.readUInt16BE(19),
    tls: fields.readUInt16BE(21),
  }
}

/** Whether a pass belongs to who asks; what is not known of one of both decides nothing. */
export function isOfAsker(pass: Pick<Asker, 'browser' | 'tls'>, { browser, tls }: Asker): boolean {
  return pass.browser === browser && (pass.tls === 0 || tls === 0 || pass.tls === tls)
}

/** Finds the pass of a request: the best of those that hold. Without the client's address its network is not counted. */
export type PassReader = (
  request: InspectionRequest,
  network: NetworkClass,
  now: number,
  from?: Address,
) => InspectedPass | undefined

/** Reads passes, and renews them. */
export interface Passes {
  readonly passOf: PassReader
  /**
   * The pass of a request, as `passOf` has it, for as long once more, where half of its time is over. It is the same pass: its id, level
   * and bounds stay, and budgets count on.
   */
  renew(pass: InspectedPass, request: Pick<InspectionRequest, 'fields' | 'ja4'>, now: number): RenewedPass | undefined
}

export interface RenewedPass {
  /** Value of the cookie. */
  readonly pass: string
  /** Seconds that it holds. */
  readonly maxAge: number
}

/** The pass that a cookie was for a request with such parts; absent: none. */
interface Held extends AskerParts {
  readonly pass: Pass | undefined
  /** As it was shown last: for a second it is the same. */
  shown: InspectedPass | undefined
}

type WithPass = Held & { readonly pass: Pass }

function hasPass(held: Held): held is WithPass {
  return held.pass !== undefined
}

/** The level first, then work before waiting, then the younger one. */
function worth({ level, waited, issuedAt }: Pass): number {
  return (level * 2 + (waited ? 0 : 1)) * 2 ** 32 + issuedAt
}

export function createPasses(
  secrets: readonly ChallengeSecret[],
  networks: PassNetworks,
  isSecure: ChallengesOptions['isSecure'] = () => false,
): Passes {
  const due = new WeakMap<InspectedPass, Pass>()
  const kept = new LRUCache<string, Held>({ max: MAX_KEPT })

  /** The pass of a cookie, if it is the asker's; remembered, since its MAC takes longer than all else. */
  function heldOf(value: string, parts: AskerParts): Held | undefined {
    const { host, userAgent, ja4 } = parts
    const held = kept.get(value)
    if (held !== undefined && held.userAgent === userAgent && held.host === host && held.ja4 === ja4) return held
    const bytes = Buffer.from(value, 'base64url')
    const text = bytes.toString('base64url')
    if (bytes.length !== FIELDS + MAC || text !== value) return undefined
    const asker = askerOf(parts)
    const opened = openPass(bytes, secrets, asker.host)
    const pass = opened !== undefined && isOfAsker(opened, asker) ? opened : undefined
    // The value is a piece of a line of cookies, and would keep the whole of it.
    const fresh = { host, userAgent, ja4, pass, shown: undefined }
    if (areShort(parts)) kept.set(text, fresh)
    return fresh
  }

  const passOf: PassReader = (request, network, now, from) => {
    const values = cookiesOf(request.fields, PASS_COOKIES, MAX_COOKIES, () => isSecure(request))
    if (values.length === 0) return undefined
    const parts = askerPartsOf(request)
    const found: WithPass[] = []
    const seconds = now / 1000
    for (const value of values) {
      const held = value.length === LENGTH ? heldOf(value, parts) : undefined
      if (held === undefined || !hasPass(held)) continue
      const { pass } = held
      if (pass.expiresAt <= seconds || pass.issuedAt - SKEW_SECONDS > seconds) continue
      if (pass.home && (anonymises(network) || network === 'hosting' || network === 'datacenter')) continue
      found.push(held)
    }
    if (found.length > 1) found.sort((one, other) => worth(other.pass) - worth(one.pass))
    // A neighbour's pass that too many networks have seen hides none behind it.
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
    passOf,
    renew(inspected, request, now) {
      const pass = due.get(inspected)
      if (pass === undefined) return undefined
      const [maker] = secrets as readonly [ChallengeSecret, ...ChallengeSecret[]]
      const issuedAt = Math.floor(now / 1000)
      const maxAge = pass.expiresAt - pass.issuedAt
      const next = { ...pass, issuedAt, expiresAt: issuedAt + maxAge, renewals: pass.renewals - 1, renewed: true }
      return { pass: sealPass(next, maker, askerOf(askerPartsOf(request)).host), maxAge }
    },
  }
}
