import { type Address, makePrefix, type Observation, type Prefix, type PrefixObservation } from '@sallyport/core'

type IsInForce = (observation: Observation) => boolean

/** Holds the observations of one origin and one length of prefix. */
interface Level {
  readonly origin: Observation['origin']
  readonly family: Address['family']
  readonly length: number
  readonly rows: Map<string | number, PrefixObservation>
}

/** Creates an index that holds observations in memory by prefix: one of each origin. */
export function createObservationIndex() {
  // Levels are in the order in which `find` reads them. Few lengths are in use, so an address is looked up a few times at most.
  let levels: readonly Level[] = []

  const findLevel = ({ address, length }: Prefix, origin: Observation['origin']): Level | undefined =>
    levels.find((level) => level.origin === origin && level.family === address.family && level.length === length)

  function addLevel({ address, length }: Prefix, origin: Observation['origin']): Level {
    const level: Level = { origin, family: address.family, length, rows: new Map() }
    levels = [...levels, level].sort(
      (one, other) =>
        Number(one.origin !== 'operator') - Number(other.origin !== 'operator') || other.length - one.length,
    )
    return level
  }

  return {
    put(observation: PrefixObservation): void {
      const { prefix, origin } = observation
      const level = findLevel(prefix, origin) ?? addLevel(prefix, origin)
      level.rows.set(makeKey(prefix.address), observation)
    },
    remove(prefix: Prefix, origin: Observation['origin']): void {
      const level = findLevel(prefix, origin)
      level?.rows.delete(makeKey(prefix.address))
      if (level?.rows.size === 0) levels = levels.filter((other) => other !== level)
    },
    /** Forgets the observations that are not in force. */
    sweep(isInForce: IsInForce): void {
      for (const { rows } of levels) for (const [key, row] of rows) if (!isInForce(row)) rows.delete(key)
      levels = levels.filter(({ rows }) => rows.size > 0)
    },
    list: (): readonly PrefixObservation[] => levels.flatMap(({ rows }) => [...rows.values()]),
    /** Finds the operator's longest prefix that holds the address and is in force, else what its name said. */
    find(address: Address, isInForce: IsInForce): Observation | undefined {
      for (const { family, length, rows } of levels) {
        if (family !== address.family) continue
        const found = rows.get(makeKey(makePrefix(address, length).address))
        if (found !== undefined && isInForce(found)) return found
      }
      return undefined
    },
  }
}

/** Returns a number for IPv4: a text for every request would cost more than all the rest. */
function makeKey({ family, a, b, c, d }: Address): string | number {
  return family === 4 ? d : `${a}:${b}:${c}:${d}`
}
