import type { AutonomousSystem } from '../ports/index.ts'
import type { AsType } from '../vocabulary.ts'
import { looksLikeHosting, type NamedType, type SystemShape } from './host-likeness.ts'

/** Holds what lists say about a system, and the outline of its address space. */
export interface SystemEvidence {
  /** The first list of systems that names it, and the type that the list asserts. */
  readonly listed?: { readonly type: AsType; readonly source: string } | undefined
  /** Shares of its IPv4 addresses, 0 to 1, that are in lists of hosting and cloud ranges, of mobile ranges and of home lines. */
  readonly hosting: number
  readonly mobile: number
  readonly access: number
  /** Counts its /24s that hold a known exit of a VPN or of Tor. */
  readonly exitBlocks: number
  /** True where lists show that several VPN services rent from it; they read IPv4 alone. */
  readonly rented: boolean
  /** Counts its /24s that hold an address with the reverse name of a line. */
  readonly lineBlocks: number
  /** True where a list of Tor exits is loaded, which then says which addresses of a Tor operator are exits. */
  readonly torListed: boolean
  readonly shape: SystemShape
}

/** The whole system has a type where this share of its addresses is listed. */
const HALF = 0.5
const NEARLY_ALL = 0.8
/** Exits in fewer /24s are tenants of another company's network. */
const MIN_EXIT_BLOCKS = 2

/** Limits the addresses that one /24 with an exit decides for, a /20: with more, a few lines of a list would decide for whole countries. */
const MAX_ADDRESSES_PER_EXIT_BLOCK = 2 ** 12

/**
 * Returns the type of a system by evidence; `undefined` where there is none, or none against its name. The evidence overrules the name of
 * an access provider where a list of systems names it, or where nearly all addresses are listed as hosting (half, where its words are
 * weak). It overrules no other name.
 */
export function judgeSystem(
  asn: number,
  evidence: SystemEvidence,
  rule: NamedType | undefined,
): Pick<AutonomousSystem, 'type' | 'basis' | 'list'> | undefined {
  const { listed, hosting, mobile, access, exitBlocks, lineBlocks, shape } = evidence
  const named = rule?.type
  const isOpen = named === undefined || named === 'isp'
  if ((isOpen || named === 'hosting') && listed !== undefined && listed.type !== named) {
    return { type: listed.type, basis: 'list', list: listed.source }
  }
  const isFull = exitBlocks >= MIN_EXIT_BLOCKS && exitBlocks * 256 >= shape.ipv4Addresses * HALF
  if ((named === undefined || named === 'hosting') && isFull) return { type: 'vpn', basis: 'prefixes' }
  if (!isOpen) return undefined
  if (hosting >= (rule === undefined || rule.weak ? HALF : NEARLY_ALL)) return { type: 'hosting', basis: 'prefixes' }
  if (named === undefined) {
    if (mobile >= HALF) return { type: 'mobile', basis: 'prefixes' }
    if (access >= HALF) return { type: 'isp', basis: 'prefixes' }
    // Exits run on rented machines; home networks have names that say so.
    if (exitBlocks > 0 && exitBlocks * MAX_ADDRESSES_PER_EXIT_BLOCK >= shape.ipv4Addresses)
      return { type: 'hosting', basis: 'prefixes' }
  }
  const isLike = lineBlocks === 0 && looksLikeHosting({ asn, shape }, rule)
  return isLike ? { type: 'hosting', basis: 'shape' } : undefined
}

/** Lines are likely where a prefix holds this many addresses or more on average. */
const LARGE_PREFIX = 2 ** 11

/**
 * Looks for a second sign that a system sells access, where hosts use the words of its name as often. Lists of lines or reverse names of
 * lines are such a sign, as is one block, or a few large ones, registered in one country.
 */
export function looksLikeAccess({ access, mobile, lineBlocks, shape }: SystemEvidence): boolean {
  if (access > 0 || mobile > 0 || lineBlocks > 0) return true
  const { ipv4Addresses, ipv4Prefixes, countries } = shape
  return countries <= 1 && (ipv4Prefixes === 1 || ipv4Addresses >= ipv4Prefixes * LARGE_PREFIX)
}
