import { classify, createDirectory, type Directory, parseAddress, parseAsn, SallyportError } from '@sallyport/core'
import { regionText } from '../explanation/decision-facts.ts'
import type { Share } from '../shares/share.ts'
import { takeNewest } from './newest.ts'
import { type Call, type ConsoleParts, row } from './route.ts'
import { parseNumber, trimText } from './values.ts'

const MAX_LISTED = 100

interface Seen {
  readonly requests: number
  /** Holds the newest request's id, and when the request came. */
  readonly last: string | null
  readonly at: number
}

const SEEN: Share<{ readonly address: string }, Seen> = {
  name: 'seen',
  own({ address }, { history }) {
    const found = history.recent.list().filter(({ client }) => client === address)
    const { id = null, at = 0 } = found.at(-1) ?? {}
    return { requests: found.length, last: id, at }
  },
}

/** Serves facts about an address, a network or a name, and the directory of systems. */
export const INSPECT_ROWS = [
  row({ method: 'GET', path: 'inspect', role: 'read', takes: ['target'], shares: [SEEN], answer: inspect }),
  row({
    method: 'GET',
    path: 'directory',
    role: 'read',
    takes: ['limit', 'q', 'by'],
    answer({ query }, parts) {
      const directory = openDirectory(parts)
      const limit = parseNumber(query.get('limit'), { initial: 50, most: MAX_LISTED })
      const text = trimText(query.get('q'))
      const by = query.get('by') === 'prefixes' ? 'prefixes' : 'addresses'
      return { total: directory.total, by, results: text ? directory.search(text, limit) : directory.top(by, limit) }
    },
  }),
  row({
    method: 'GET',
    path: 'directory/*',
    role: 'read',
    answer({ rest }, parts) {
      const asn = parseAsn(rest)
      if (asn === undefined) throw new SallyportError('invalid_asn')
      const entry = openDirectory(parts).entry(asn)
      if (entry === undefined) throw new SallyportError('asn_not_found')
      return { entry, system: findType(parts, asn) }
    },
  }),
]

async function inspect({ query }: Call<'target'>, parts: ConsoleParts) {
  const { sallyport } = parts
  const target = trimText(query.get('target'))
  if (target === '') throw new SallyportError('invalid_target')
  const result = await sallyport.lookup(target)
  const snapshot = sallyport.knowledge.snapshots.current()
  const address = parseAddress(result.target.ip ?? '')
  const finding = address && classify(address, snapshot)
  const region = address && finding && (await sallyport.knowledge.findRegion(address, finding))
  const system = finding?.asn === undefined ? undefined : attempt(() => openDirectory(parts).entry(finding.asn ?? 0))
  return {
    result,
    finding: finding ?? null,
    region: region === undefined ? null : regionText(region),
    system: system ?? null,
    seen: await countSeen(parts, result.target.ip ?? ''),
  }
}

/** Counts how often the remembered requests have the address. */
async function countSeen({ gather, sallyport }: ConsoleParts, address: string) {
  if (sallyport.config.log.addresses !== 'full') return null
  const { shares } = await gather(SEEN, { address })
  const [last] = takeNewest([shares], 1)
  return { requests: shares.reduce((sum, { requests }) => sum + requests, 0), last: last?.last ?? null }
}

function openDirectory({ sallyport }: ConsoleParts): Directory {
  const { systems, networks, rangesLoaded } = sallyport.knowledge.snapshots.current()
  if (systems === undefined || networks === undefined) {
    throw new SallyportError('service_unavailable', 'No data about autonomous systems is loaded.')
  }
  return createDirectory(systems, networks, rangesLoaded)
}

/** Finds the type of a system, and what that rests on. */
function findType({ sallyport }: ConsoleParts, asn: number) {
  const { systems } = sallyport.knowledge.snapshots.current()
  const index = systems?.indexOf(asn) ?? -1
  return index < 0 ? null : (systems?.system(index) ?? null)
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
