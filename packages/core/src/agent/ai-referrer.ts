import { AI_REFERRERS } from '@sallyport/data/ai-referrers'

const BY_HOST: ReadonlyMap<string, string> = new Map(
  AI_REFERRERS.flatMap(({ service, hosts }) => hosts.map((host) => [host, service] as const)),
)
const BY_UTM: ReadonlyMap<string, string> = new Map(
  AI_REFERRERS.flatMap(({ service, utm }) => utm.map((value) => [value, service] as const)),
)

const HOST = '://'
const UTM = 'utm_source='

/**
 * Returns the name of the AI service whose answer a visitor followed, by the Referer and by `utm_source` of the target; `undefined` where
 * neither names a service. Visitors can forge both. Each request calls this, so it parses only what can hold a name.
 */
export function findAiReferrer(referer: string | undefined, target: string): string | undefined {
  if (referer !== undefined) {
    const begin = referer.indexOf(HOST) + HOST.length
    const end = referer.indexOf('/', begin)
    const found = BY_HOST.get(referer.slice(begin, end < 0 ? undefined : end))
    if (found !== undefined) return found
  }
  const utm = target.indexOf(UTM)
  if (utm < 0) return undefined
  const end = target.indexOf('&', utm)
  return BY_UTM.get(target.slice(utm + UTM.length, end < 0 ? undefined : end).toLowerCase())
}
