import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { currentRegion, listHolders, parsePrefix } from '@sallyport/core'
import { open } from '@sallyport/engine/open'
import { makeRequest } from '../browser.ts'
import { counted, type Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'
import { GEOFEEDS } from './feeds.ts'
import { listShared, readShared } from './shared.ts'

/** Fewer lines of a country say nothing about it. */
const FEWEST = 20

type Outcome = 'right' | 'wrong' | 'unknown'

/** Operators whose feeds were read to find the rules of regions: lines of all others are held out. */
const READ_FOR_RULES = /verizon|netflix|nflx/i

/**
 * Regions of the city file against published geofeeds, none of which is loaded: the first address of each prefix, as its operator places
 * it. `SALLYPORT_GEOFEEDS` names a folder of more feeds, each named after its operator.
 */
export async function benchRegions(run: Run): Promise<void> {
  const feeds = readFeeds()
  if (feeds.length === 0) return run.skip('no geofeed is here (SALLYPORT_SHARED_DATA names the folder)')
  await scratch(async (folder) => {
    const sources = Object.fromEntries(GEOFEEDS.map((id) => [id, { enabled: false }]))
    const rules = [{ id: 'any', match: { region: ['US-TX'] }, unknown: 'ignore', action: 'flag' }] as const
    const sallyport = await open({
      dataDir: join(folder, 'data'),
      data: { refresh: false, sources },
      policy: { preset: 'observe', rules: [...rules] },
    })
    const counts = new Map<string, Record<Outcome, number>>()
    for (const { peer, code, isHeldOut } of feeds.flatMap(readLines)) {
      const { network, region } = sallyport.inspect(makeRequest({ peer }))
      const lines = network.verdict.classification === 'mobile' ? 'carriers' : `IPv${peer.includes(':') ? 6 : 4}`
      const key = `${code.slice(0, 2)}, ${lines}, ${isHeldOut ? 'held-out' : 'read'}`
      const count = counts.get(key) ?? { right: 0, wrong: 0, unknown: 0 }
      count[judge(code, region?.code)]++
      counts.set(key, count)
    }
    await sallyport.close()
    const figures = [...counts]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([key, count]) => showCount(key, count))
    run.table({ title: 'Regions by the city file', figures })
  })
}

/** A larger region that holds the true one is right. */
function judge(code: string, found: string | undefined): Outcome {
  if (found === undefined) return 'unknown'
  return listHolders(code).includes(found) || listHolders(found).includes(code) ? 'right' : 'wrong'
}

function showCount(key: string, count: Readonly<Record<Outcome, number>>): readonly Figure[] {
  const all = count.right + count.wrong + count.unknown
  if (all < FEWEST) return []
  const shares = (['right', 'wrong', 'unknown'] as const).map((what): Figure => {
    return { case: key, what, unit: '%', value: counted((100 * count[what]) / all) }
  })
  return [{ case: key, what: 'prefixes', unit: '', value: counted(all) }, ...shares]
}

interface Feed {
  readonly name: string
  readonly text: string
}

function readFeeds(): readonly Feed[] {
  const more = process.env['SALLYPORT_GEOFEEDS']
  const shared = listShared('geo')
    .filter((path) => path.includes('geofeed-'))
    .map((name) => ({ name, text: readShared(name) }))
  if (more === undefined) return shared
  return [...shared, ...readdirSync(more).map((name) => ({ name, text: readFileSync(join(more, name), 'utf8') }))]
}

/** A prefix of a feed, by its first address, and the region in which its operator puts it. */
interface FeedLine {
  readonly peer: string
  readonly code: string
  readonly isHeldOut: boolean
}

/** The lines of a feed (RFC 8805) that name a region. */
function readLines({ name, text }: Feed): readonly FeedLine[] {
  const isHeldOut = !READ_FOR_RULES.test(name)
  return text.split(/\r?\n/).flatMap((line) => {
    const [entry = '', , written = ''] = line.split(',').map((field) => field.trim())
    const code = currentRegion(written)
    if (code === undefined || parsePrefix(entry) === undefined) return []
    const [first = ''] = entry.split('/')
    const peer = first.includes(':')
      ? first.replace(/::$/, '::1')
      : first.replace(/\d+$/, (last) => String(Number(last) | 1))
    return [{ code, peer, isHeldOut }]
  })
}
