import {
  formatAddress,
  HOUR_MS,
  type Inspection,
  judgeLogin,
  parsePrefix,
  rememberLogin,
  sightLogin,
  type UserMemory,
} from '@sallyport/core'
import { createRandom, type Random } from '@sallyport/core/testing'
import { open, type Sallyport } from '@sallyport/engine'
import { labelledAddresses, sharedLines } from '../accuracy/shared.ts'
import { makeRequest } from '../browser.ts'
import { addressIn } from '../random.ts'
import { counted, type Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'

const START = Date.UTC(2026, 9, 1)
const LOGINS = 30
const SEED = 73
/** A flight and its ways take less. */
const DAY = 24
/** Fewer addresses are no network. */
const FEWEST = 5

/** A login comes from an address, some hours after the one before. */
interface Login {
  readonly address: string
  readonly hours: number
}

/** Users of one kind have histories. `isTravel`: the last login is another's, from a line far away. */
interface Users {
  readonly name: string
  readonly isTravel?: true | undefined
  history(random: Random): readonly Login[]
}

/**
 * Makes histories of users who move between the networks of the labels, and counts alarms: all are false, but those about a last login
 * of a stranger. It reads the city file, and the lists of the release.
 */
export async function benchTravel(run: Run): Promise<void> {
  await scratch(async (folder) => {
    const sallyport = await open({ dataDir: folder, data: { refresh: false }, policy: { preset: 'observe' } })
    const figures: Figure[] = []
    for (const users of listUsers(sallyport)) {
      run.step(users.name)
      figures.push(...(await countAlarms(sallyport, users, run.pick(2_000, 50))))
    }
    await sallyport.close()
    run.table({ title: `Travel in ${LOGINS} logins`, figures })
  })
}

async function countAlarms(sallyport: Sallyport, users: Users, count: number): Promise<readonly Figure[]> {
  const random = createRandom(SEED)
  let [logins, alarms, alarmed] = [0, 0, 0]
  for (let user = 0; user < count; user++) {
    let memory: UserMemory | undefined
    let at = START
    let mine = 0
    for (const { address, hours } of users.history(random)) {
      at += hours * HOUR_MS
      const inspection = sallyport.inspect(requestFrom(address))
      const sighting = await sightLogin(inspection, FIREFOX, sallyport.knowledge.snapshots.current(), at)
      if (judgeLogin(memory, sighting).facts.travel) mine++
      memory = rememberLogin(memory, sighting)
      logins++
    }
    alarms += mine
    if (mine > 0) alarmed++
  }
  const share = (100 * alarmed) / count
  if (users.isTravel) return [{ case: users.name, what: 'users', unit: '%', value: counted(share) }]
  return [
    { case: users.name, what: 'alarms', unit: '%', value: counted((100 * alarms) / logins), goal: { atMost: 0.5 } },
    { case: users.name, what: 'users', unit: '%', value: counted(share) },
  ]
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'

const requestFrom = (peer: string) => makeRequest({ peer, fields: ['User-Agent', FIREFOX] })

function listUsers(sallyport: Sallyport): readonly Users[] {
  const labelled = (label: string) => labelledAddresses().flatMap((one) => (one.label === label ? one.address : []))
  const lines = labelled('residential_clean')
  const carriers = groupBy(sallyport, labelled('mobile'), ({ network }) => network.asn)
  /** Networks that have lines and SIM cards. */
  const both = groupBy(sallyport, lines, ({ network }) => (network.verdict.confidence > 0.5 ? undefined : network.asn))
  const countries = groupBy(sallyport, lines, ({ country }) => country)
  const vpns = [
    labelled('vpn'),
    ...['mullvad', 'pia', 'tunnelbear', 'protonvpn-exit'].map((name) => sharedLines(`vpn/by-provider/${name}.txt`)),
  ]
  const relays = sharedLines('vpn/apple-private-relay-egress.txt.gz')
  const mixed = (random: Random, own: string, other: () => string): readonly Login[] =>
    Array.from({ length: LOGINS }, (_, at) => ({
      address: at === 0 || random(2) === 0 ? own : other(),
      hours: random(100) / 20,
    }))
  return [
    {
      name: 'carrier',
      history(random) {
        const carrier = pick(carriers, random)
        return mixed(random, pick(lines, random), () => pick(carrier, random))
      },
    },
    {
      name: 'private relay',
      history: (random) => mixed(random, pick(lines, random), () => addressWithin(pick(relays, random), random)),
    },
    {
      name: 'VPN',
      history(random) {
        const service = pick(vpns, random)
        return mixed(random, pick(lines, random), () => addressWithin(pick(service, random), random))
      },
    },
    {
      name: 'commuter',
      history(random) {
        const country = pick(countries, random)
        const [own, office, carrier] = [pick(country, random), pick(country, random), pick(carriers, random)]
        const days = mixed(random, own, () => (random(2) === 0 ? office : pick(carrier, random)))
        const abroad = { address: pick(lines, random), hours: DAY }
        return days.flatMap((login, at) => (at % 10 === 9 ? [abroad, { ...login, hours: DAY }] : [login]))
      },
    },
    {
      name: 'roaming',
      history(random) {
        const [own, hotel] = [pick(both, random), pick(lines, random)]
        const days = mixed(random, pick(own, random), () => pick(own, random))
        return days.map((login, at) => {
          const isAway = at % 10 > 6
          const address = isAway && random(2) === 0 ? hotel : login.address
          return { address, hours: at % 10 === 7 || at % 10 === 0 ? DAY : login.hours }
        })
      },
    },
    {
      name: 'stranger',
      isTravel: true,
      history(random) {
        const [one, other] = [pick(countries, random), pick(countries, random)]
        const own = pick(one, random)
        return [
          { address: own, hours: 0 },
          { address: pick(one === other ? lines : other, random), hours: 1 },
        ]
      },
    },
  ]
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[random(items.length)] as Item
}

/** Takes one address of a line that names it or its prefix. */
function addressWithin(line: string, random: Random): string {
  const prefix = parsePrefix(line.split(/[\s,]/, 1)[0] ?? '')
  return prefix === undefined ? line : formatAddress(addressIn(prefix.address, prefix.length, random))
}

/** Groups addresses by what an inspection says of them. */
function groupBy(
  sallyport: Sallyport,
  addresses: readonly string[],
  name: (inspection: Inspection) => string | number | undefined,
): readonly (readonly string[])[] {
  const groups = new Map<unknown, string[]>()
  for (const peer of addresses) {
    const key = name(sallyport.inspect(requestFrom(peer)))
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), peer])
  }
  return [...groups.values()].filter(({ length }) => length >= FEWEST)
}
