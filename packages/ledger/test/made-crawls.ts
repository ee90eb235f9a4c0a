import type { Crawl, Document } from '../src/record.ts'
import { sha256Hex } from '../src/verify/hash.ts'
import { AT, openMade } from './made-ports.ts'

export const MINUTE = 60_000
export const makeDocument = (text: string): Document => ({ sha256: sha256Hex(text), text })
export const ROBOTS = makeDocument('User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\n')

/** A minute of a crawler: four requests, of which one is against robots.txt. */
export function madeMinute(at: number, change: Partial<Crawl> = {}): Crawl {
  const row = { crawler: 'GPTBot', purpose: 'training', proof: 'published range', preference: 0, enforced: true }
  const licence = 'https://shop.example/licence.xml'
  return {
    operator: 'OpenAI',
    from: at,
    to: at + 59_000,
    leftOut: 0,
    preferences: [{ host: 'shop.example', robotsSha256: ROBOTS.sha256, contentUsage: 'train-ai=n', licence }],
    rows: [
      { ...row, bytes: 900, path: '/articles/*', robots: 'allowed', action: 'allow', requests: 3, pages: 3 },
      { ...row, bytes: 900, path: '/private/*', robots: 'disallowed', action: 'block', requests: 1, pages: 0 },
    ],
    ...change,
  }
}

/** Opens a ledger that recorded these minutes from AT on. */
export async function recorded(minutes: number, change: Partial<Crawl> = {}) {
  const { ports, ledger } = await openMade({}, ROBOTS)
  for (let at = 0; at < minutes; at++)
    await ledger.crawl(madeMinute(AT + at * MINUTE, change), ['192.0.2.1', '192.0.2.7'])
  const at = (minute: number) => new Date(AT + minute * MINUTE).toISOString()
  const build = async (from: number, to: number, withAddresses = false) => {
    const found = await ledger.crawls('OpenAI', { from: at(from), to: at(to), withAddresses })
    if (found === undefined) throw new Error('no such evidence')
    return found
  }
  return { ledger, ports, build, keys: await ledger.keys(), at }
}
