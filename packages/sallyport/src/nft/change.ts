import { isIPv4, isIPv6 } from 'node:net'

/** An element of a set: an address of IPv4, or a network of IPv6. `text` is written here, and never what was received. */
export interface SetElement {
  readonly family: 4 | 6
  readonly text: string
}

/** One thing that is asked of the helper: an element for some seconds, or, without them, no longer. */
export interface Change {
  readonly element: SetElement
  readonly seconds?: number | undefined
}

/** Longest line: `add`, an address of 39 characters with a length, and the seconds. */
export const MAX_LINE = 64

const LINE = /^(?:add ([0-9a-f.:]{2,39}(?:\/\d{1,3})?) ([1-9]\d{0,4})|del ([0-9a-f.:]{2,39}(?:\/\d{1,3})?))$/

/** Longest time of an element. */
const MAX_SECONDS = 86_400
/** Bits of the widest network that one line may ban. */
const MIN_LENGTH = 32

/** Reads a line; `undefined` for one that is not exactly of the form. */
export function parseChange(line: string): Change | undefined {
  const [, added, time, removed] = LINE.exec(line) ?? []
  const element = parseElement(added ?? removed ?? '')
  if (element === undefined) return undefined
  if (time === undefined) return { element }
  const seconds = Number(time)
  return seconds > MAX_SECONDS ? undefined : { element, seconds }
}

function parseElement(text: string): SetElement | undefined {
  const [address = '', bits] = text.split('/')
  if (isIPv4(address))
    return bits === undefined ? { family: 4, text: address.split('.').map(Number).join('.') } : undefined
  if (!isIPv6(address) || address.includes('.')) return undefined
  const length = bits === undefined ? 128 : Number(bits)
  const groups = groupsOf(address)
  if (length < MIN_LENGTH || length > 128 || hasHostBits(groups, length)) return undefined
  return { family: 6, text: `${groups.map((group) => group.toString(16)).join(':')}/${length}` }
}

/** The eight groups of an address that is known to be one. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.split('::')
  const read = (part: string): readonly number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [read(head), read(tail ?? '')]
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

function hasHostBits(groups: readonly number[], length: number): boolean {
  return groups.some((group, at) => (group & (0xffff >> Math.min(16, Math.max(0, length - at * 16)))) !== 0)
}
