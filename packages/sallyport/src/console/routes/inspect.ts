import { classify, createDirectory, type Directory, parseAddress, parseAsn, SallyportError } from '@sallyport/core'
import { regionText } from '../explanation/decision-facts.ts'
import { type ConsoleParts, get } from './route.ts'
import { parseNumber } from './values.ts'

const MAX_LISTED = 100

/** Serves facts about an address, a network or a name, and the directory of systems. */
export const INSPECT_ROWS = [
  get('inspect', { takes: ['target'] }, async ({ asked: { target } }, parts) => {
    const { knowledge, lookup } = parts.sallyport
    if (!target) throw new SallyportError('invalid_target')
    const result = await lookup(target)
    const address = parseAddress(result.target.ip ?? '')
    const finding = address && classify(address, knowledge.snapshots.current())
    const region = address && finding && (await knowledge.findRegion(address, finding))
    return {
      result,
      finding: finding ?? null,
      region: region === undefined ? null : regionText(region),
      system: (finding?.asn !== undefined && findDirectory(parts)?.entry(finding.asn)) || null,
    }
  }),
  get('directory', { takes: ['limit', 'q', 'by'] }, ({ asked: { limit: given, q, by: order } }, parts) => {
    const directory = openDirectory(parts)
    const limit = parseNumber(given, { initial: 50, most: MAX_LISTED })
    const by = order === 'prefixes' ? 'prefixes' : 'addresses'
    return { total: directory.total, by, results: q ? directory.search(q, limit) : directory.top(by, limit) }
  }),
  get('directory/*', {}, ({ rest }, parts) => {
    const asn = parseAsn(rest)
    if (asn === undefined) throw new SallyportError('invalid_asn')
    const entry = openDirectory(parts).entry(asn)
    if (entry === undefined) throw new SallyportError('asn_not_found')
    const { systems } = parts.sallyport.knowledge.snapshots.current()
    return { entry, system: systems?.system(systems.indexOf(asn)) ?? null }
  }),
]

function findDirectory({ sallyport }: ConsoleParts): Directory | undefined {
  const { systems, networks, rangesLoaded } = sallyport.knowledge.snapshots.current()
  return systems && networks && createDirectory(systems, networks, rangesLoaded)
}

function openDirectory(parts: ConsoleParts): Directory {
  const directory = findDirectory(parts)
  if (directory !== undefined) return directory
  throw new SallyportError('service_unavailable', 'No data about autonomous systems is loaded.')
}
