import { timingSafeEqual } from 'node:crypto'
import type { ChallengeLevel, RedeemFault } from '../values/challenge.ts'
import type { Asker } from './asker.ts'
import type { ChallengeSecret, Mac } from './secrets.ts'

/** A challenge is stored nowhere: it carries everything that its solution is checked by. */
export interface Challenge {
  /** The challenge was issued then, in milliseconds since the epoch. */
  readonly issuedAt: number
  readonly level: ChallengeLevel
  /** Counts the puzzles, and the zero bits that each solution has; none where the challenge is only a wait. */
  readonly puzzles: number
  readonly bits: number
  /** Seconds until the cookie is accepted; 0: it never is. */
  readonly wait: number
  /** Its pass expires after this time, in seconds. */
  readonly passSeconds: number
  readonly browser: number
  readonly tls: number
  /** Identifies the rule that challenged by its tag in `RuleTags`. */
  readonly rule: number
  /** No other challenge has these bytes. */
  readonly random: Uint8Array
}

/** Adds the seed of its puzzles to an opened challenge. */
export interface OpenedChallenge extends Challenge {
  /** The seed of its puzzles is its MAC. */
  readonly seed: Uint8Array
}

export type TokenFault = Extract<RedeemFault, 'malformed' | 'forged' | 'expired'>

const VERSION = 1
const FIELDS = 40
const MAC = 32
const LENGTH = Math.ceil(((FIELDS + MAC) * 4) / 3)

/** A challenge can be solved for this time, and one key makes challenges for as long. */
export const CHALLENGE_MS = 300_000

/** Limits how far machines' clocks may differ. */
const SKEW_MS = 30_000

export const RANDOM_BYTES = 16

/** Returns a challenge as text: its fields and their MAC, which covers the host too (96 characters of base64url). */
export function sealChallenge(challenge: Challenge, secret: ChallengeSecret, host: string): string {
  const bytes = Buffer.alloc(FIELDS + MAC)
  const fields = bytes.subarray(0, FIELDS)
  fields.writeUInt8(VERSION, 0)
  fields.writeUInt8(secret.id, 1)
  fields.writeUIntBE(challenge.issuedAt, 2, 6)
  fields.writeUInt8(challenge.level, 8)
  fields.writeUInt8(challenge.puzzles, 9)
  fields.writeUInt8(challenge.bits, 10)
  fields.writeUInt8(challenge.wait, 11)
  fields.writeUInt32BE(challenge.passSeconds, 12)
  fields.writeUInt16BE(challenge.browser, 16)
  fields.writeUInt16BE(challenge.tls, 18)
  fields.writeUInt32BE(challenge.rule, 20)
  fields.set(challenge.random, 24)
  bytes.set(macAt(secret, challenge.issuedAt)(fields, host), FIELDS)
  return bytes.toString('base64url')
}

/** Returns the recent challenge that one of the secrets made for the host, or why there is none. */
export function openChallenge(
  text: string,
  secrets: readonly ChallengeSecret[],
  { host }: Pick<Asker, 'host'>,
  now: number,
): OpenedChallenge | TokenFault {
  if (text.length !== LENGTH) return 'malformed'
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== FIELDS + MAC || bytes.toString('base64url') !== text) return 'malformed'
  const fields = bytes.subarray(0, FIELDS)
  const seed = bytes.subarray(FIELDS)
  const issuedAt = fields.readUIntBE(2, 6)
  // This check precedes the MAC, so that a forger cannot make us derive keys of unused epochs.
  if (now - issuedAt > CHALLENGE_MS || issuedAt - now > SKEW_MS) return 'expired'
  const isOurs = secrets.some(
    (secret) => secret.id === fields[1] && timingSafeEqual(macAt(secret, issuedAt)(fields, host), seed),
  )
  if (fields[0] !== VERSION || !isOurs) return 'forged'
  return {
    issuedAt,
    level: fields.readUInt8(8) as ChallengeLevel,
    puzzles: fields.readUInt8(9),
    bits: fields.readUInt8(10),
    wait: fields.readUInt8(11),
    passSeconds: fields.readUInt32BE(12),
    browser: fields.readUInt16BE(16),
    tls: fields.readUInt16BE(18),
    rule: fields.readUInt32BE(20),
    random: fields.subarray(24),
    seed,
  }
}

function macAt(secret: ChallengeSecret, time: number): Mac {
  return secret.epochMac(Math.floor(time / CHALLENGE_MS))
}
