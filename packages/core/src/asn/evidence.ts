import type { AsType } from '../vocabulary.ts'
import { looksLikeHosting, type NamedType, type SystemShape } from './host-likeness.ts'

/** The lists' word on a system, and the outline of its address space. */
export interface SystemEvidence {
  /** The first list of systems that names it, and the type that the list asserts. */
  readonly listed?: { readonly type: AsType; readonly source: string } | undefined
  /** Shares of its IPv4 addresses, 0 to 1, in lists of hosting and cloud ranges, of mobile ones and of home lines. */
  readonly hosting: number
  readonly mobile: number
  readonly access: number
  /** How many of its /24s hold a known exit of a VPN or of Tor. */
  readonly exitBlocks: number
  /** Whether several VPN services rent from it, as lists show, by IPv4 alone; undefined: too few services are loaded to show any. */
  readonly rented: boolean | undefined
  /** How many of its /24s hold an address whose reverse name is that of a line. */
  readonly lineBlocks: number
  /** Whether a list of Tor exits is loaded: then it says which addresses of a Tor operator are exits. */
  readonly torListed: boolean
  readonly shape: SystemShape
}

/** The type that the evidence shows. */
export interface ReadType {
  readonly type: AsType
  readonly basis: 'list' | 'prefixes' | 'shape'
  /** Id of the list. */
  readonly list?: string | undefined
}

/** The share of a system's addresses that has to be listed for the whole system to have the type. */
const HALF = 0.5
const NEARLY_ALL = 0.8
/** Exits in fewer /24s are tenants of another company's network. */
const MIN_EXIT_BLOCKS = 2

/**
 * The addresses that one /24 with an exit decides for, a /20: with more, a few lines of a list would decide for whole
 * countries.
 */
const MAX_ADDRESSES_PER_EXIT_BLOCK = 2 ** 12

/**
 * The type of a system by evidence; `undefined` where there is none, or none against its name. A name of an access
 * provider is overruled by a list of systems, or where nearly all addresses are listed as hosting (half, where its words
 * are weak); any other name is not.
 */
export function typeOfEvidence(
  asn: number,
  evidence: SystemEvidence,
  rule: NamedType | undefined,
): ReadType | undefined {
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

/** Addresses of a prefix, on average, from which up a network looks like lines. */
const LARGE_PREFIX = 2 ** 11

/**
 * Whether there is a second sign that a system sells access, where its name says so by words that hosts use as often: it is
 * in lists of lines or has their reverse names, or it is one block, or a few large ones, registered in one country.
 */
export function looksLikeAccess({ access, mobile, lineBlocks, shape }: SystemEvidence): boolean {
  if (access > 0 || mobile > 0 || lineBlocks > 0) return true
  const { ipv4Addresses, ipv4Prefixes, countries } = shape
  return countries <= 1 && (ipv4Prefixes === 1 || ipv4Addresses >= ipv4Prefixes * LARGE_PREFIX)
}
