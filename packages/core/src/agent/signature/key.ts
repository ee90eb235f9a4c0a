import { constants, createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { attempt } from '../../attempt.ts'
import { isRecord } from '../../is-record.ts'

/** Describes the accepted key types: the algorithm (RFC 9421 section 6.2), the curve, and the public members in the order of RFC 7638. */
const TYPES = [
  { type: 'OKP', algorithm: 'ed25519', curve: 'Ed25519', members: ['crv', 'kty', 'x'] },
  { type: 'EC', algorithm: 'ecdsa-p256-sha256', curve: 'P-256', members: ['crv', 'kty', 'x', 'y'] },
  { type: 'RSA', algorithm: 'rsa-pss-sha512', curve: undefined, members: ['e', 'kty', 'n'] },
] as const

/** Lists the accepted algorithms: none with a shared secret. */
export const ALGORITHMS = TYPES.map(({ algorithm }) => algorithm)

/** Holds a public key of an agent. */
export interface AgentKey {
  /** RFC 7638 thumbprint, computed here: the name that a directory gives its key proves nothing. */
  readonly id: string
  readonly algorithm: (typeof TYPES)[number]['algorithm']
  readonly key: KeyObject
  /** Milliseconds since the epoch bound the use of the key; absent where the directory sets no bound. */
  readonly notBefore?: number | undefined
  readonly notAfter?: number | undefined
}

/** Thumbprints of the keys that RFC 9421 appendix B prints with their private halves: anyone can sign with them. */
export const TEST_KEY_IDS: readonly string[] = [
  // Appendix B gives these: B.1.4 Ed25519, B.1.2 RSA-PSS, B.1.3 ECC P-256.
  'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
  'oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA',
  'ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI',
]

const SMALLEST_RSA = 2048
const LARGEST_RSA = 4096
/** Limits the characters of a public exponent: with a long one each signature would cost milliseconds. */
const LONGEST_EXPONENT = 6
/** `x`, `y` and `n` of the largest accepted key fit, with room. */
const MAX_CHARACTERS = 1024

/** Reads a JWK; returns `undefined` for any that is not a public key of an accepted algorithm. Ignores private members. */
export function readKey(jwk: unknown): AgentKey | undefined {
  if (!isRecord(jwk)) return undefined
  const { kty, crv } = jwk
  const row = TYPES.find(({ type, curve }) => type === kty && (curve === undefined || curve === crv))
  if (row === undefined) return undefined
  const members = row.members.map((name) => [name, jwk[name]] as const)
  if (!members.every(([, value]) => typeof value === 'string' && value.length <= MAX_CHARACTERS)) return undefined
  const bare = Object.fromEntries(members)
  if (kty === 'RSA' && String(bare['e']).length > LONGEST_EXPONENT) return undefined
  const key = importKey(bare)
  if (key === undefined) return undefined
  const notBefore = readMoment(jwk['nbf'])
  const notAfter = readMoment(jwk['exp'])
  return Object.freeze({
    id: createHash('sha256').update(JSON.stringify(bare)).digest('base64url'),
    algorithm: row.algorithm,
    key,
    ...(notBefore !== undefined && { notBefore }),
    ...(notAfter !== undefined && { notAfter }),
  })
}

function importKey(key: JsonWebKey): KeyObject | undefined {
  const read = attempt(() => createPublicKey({ key, format: 'jwk' }))
  const bits = read?.asymmetricKeyDetails?.modulusLength
  return bits === undefined || (bits >= SMALLEST_RSA && bits <= LARGEST_RSA) ? read : undefined
}

/** RFC 7517 leaves these to profiles: seconds, and milliseconds where the number can mean nothing else. */
function readMoment(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return value > 1e11 ? value : value * 1000
}

/** Reports whether this key made a signature over a base. Never throws. */
export function isSignedBy({ algorithm, key }: AgentKey, base: string, signature: Uint8Array): boolean {
  const { digest, ...options } = SIGNING[algorithm]
  return attempt(() => verify(digest, Buffer.from(base, 'latin1'), { key, ...options }, signature)) ?? false
}

const SIGNING = {
  ed25519: { digest: null },
  'ecdsa-p256-sha256': { digest: 'sha256', dsaEncoding: 'ieee-p1363' },
  'rsa-pss-sha512': { digest: 'sha512', padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 },
} as const
