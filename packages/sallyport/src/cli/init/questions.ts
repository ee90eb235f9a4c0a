import { parseTrust, SallyportError } from '@sallyport/core'
import { ConfigError, readConfigFrom } from '@sallyport/engine'
import { InvalidArgumentError } from 'commander'
import { type Choice, choose, readChoice, withQuestions } from '../terminal/ask.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { FRAMEWORKS, type Framework, PROXY } from './frameworks.ts'
import { PROTECTIONS, type Protection } from './settings.ts'

export interface Answers {
  readonly protect: Protection
  readonly framework: Choice & Partial<Framework>
  readonly front: readonly string[]
  readonly log?: string | undefined
}

const NOTHING = 'nothing'

/** Lists what may stand in front, by the name that `trustProxy` takes. */
export const FRONTS: readonly Choice[] = [
  { name: NOTHING, about: 'none: visitors connect directly' },
  { name: 'loopback', about: 'a server on this machine: nginx, Caddy, Apache …' },
  { name: 'private', about: 'a server or load balancer in a private network: AWS, Docker, Kubernetes …' },
  { name: 'cloudflare', about: 'Cloudflare' },
  { name: 'cloudfront', about: 'Amazon CloudFront' },
  { name: 'fastly', about: 'Fastly' },
  { name: 'gcp', about: 'a Google Cloud load balancer; add its address: gcp,203.0.113.7' },
]

const PLACES: readonly Answers['framework'][] = [
  ...FRAMEWORKS,
  { name: PROXY, about: "another framework or language, behind Sallyport's proxy" },
]

export const readProtect = readChoice(PROTECTIONS)
export const readFramework = readChoice(PLACES)

/** Reads what stands in front. Throws an `InvalidArgumentError` for a value that `trustProxy` does not take. */
export function readFront(text: string): readonly string[] {
  if ([NOTHING, 'none'].includes(text.toLowerCase())) return []
  const entries = text.split(',').map((entry) => entry.trim())
  try {
    parseTrust(entries)
    return entries
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    throw new InvalidArgumentError(error.message.replace(/^trustProxy: /, ''))
  }
}

/** Reads origin behind the proxy. Throws an `InvalidArgumentError` for a value that `upstream` does not take. */
export function readTarget(text: string): string {
  try {
    readConfigFrom({ flags: { upstream: text } })
    return text
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new InvalidArgumentError(`It ${error.faults[0]?.message}.`)
  }
}

/** Asks for each answer that no flag gives; `refuse` may end the command once the framework is known. */
export async function askAnswers(
  { protect, framework, front, log }: Partial<Answers>,
  detected: string,
  refuse: (framework: Answers['framework']) => void,
  terminal: Terminal,
): Promise<Answers> {
  if (framework !== undefined) refuse(framework)
  if (protect !== undefined && framework !== undefined && front !== undefined) return { protect, framework, front, log }
  if (!process.stdin.isTTY) {
    const missing = Object.entries({ protect, framework, front }).filter(([, answer]) => answer === undefined)
    const flags = missing.map(([name]) => `--${name}`).join(', ')
    throw new SallyportError(
      'invalid_request',
      `Questions need a terminal. Pass ${flags} too, and --log FILE to replay a log.`,
    )
  }
  return withQuestions(terminal, async (ask) => {
    const guarded =
      protect ?? (await choose(ask, terminal, 'What do you want to protect?', PROTECTIONS, 'site', readProtect))
    const place =
      framework ?? (await choose(ask, terminal, 'Which framework does the site use?', PLACES, detected, readFramework))
    refuse(place)
    const title = 'Which proxies are in front? Separate several names or CIDRs with commas.'
    return {
      protect: guarded,
      framework: place,
      front: front ?? (await choose(ask, terminal, title, FRONTS, NOTHING, readFront)),
      log: log ?? ((await ask('\nPath of an access log to replay (optional): ')) || undefined),
    }
  })
}
