import { createRequire } from 'node:module'
import type { Config } from './config/schema.ts'
import { robotsOfConfig } from './robots.ts'

// The types of the package are those of another kind of module.
const robotsParser: (url: string, text: string) => { isDisallowed(url: string, name: string): boolean | undefined } =
  createRequire(import.meta.url)('robots-parser')

/** Whether robots.txt refuses a target to who calls itself so. */
export type RefusedByRobots = (userAgent: string, target: string) => boolean

/** A site of its own, since rules are of paths alone. */
const SITE = 'http://site.example'

/** A name that no group has, for what `*` says. */
const ANYBODY = 'sallyport-anybody'

/** People's browsers, and programs that write what those do: they name no crawler (D406). */
const BROWSER = /^(?:mozilla|opera)\//i
const CRAWLER = /compatible;|bot\b|crawl|spider|\+https?:/i

/**
 * Reads the robots.txt of a policy as a crawler would (RFC 9309), when it is first asked. Rules that rest on robots.txt are
 * none that it can say, so none of them is in it.
 */
export function policyRobots(config: Config): RefusedByRobots {
  let read: RefusedByRobots | undefined
  return (userAgent, target) => {
    read ??= readRobots(robotsOfConfig(config).text)
    return read(userAgent, target)
  }
}

export function readRobots(text: string): RefusedByRobots {
  const rules = robotsParser(`${SITE}/robots.txt`, text)
  const groups = new Set([...text.matchAll(/^user-agent:\s*([^\s#]+)/gim)].map(([, name = '']) => name.toLowerCase()))
  return (userAgent, target) => {
    if (!target.startsWith('/')) return false
    const name = tokensOf(userAgent).find((token) => groups.has(token))
    if (name === undefined && BROWSER.test(userAgent) && !CRAWLER.test(userAgent)) return false
    return rules.isDisallowed(SITE + target, name ?? ANYBODY) === true
  }
}

/** Product tokens of a user agent, the longest first. */
function tokensOf(userAgent: string): readonly string[] {
  const tokens = userAgent.toLowerCase().match(/[\w-]+/g) ?? []
  return [...new Set(tokens)].toSorted((one, other) => other.length - one.length)
}
