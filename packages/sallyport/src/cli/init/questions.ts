import { errorText, parseTrust, SallyportError } from '@sallyport/core'
import { InvalidArgumentError } from 'commander'
import { type Choice, choose, type Question, readChoice, withQuestions } from '../terminal/ask.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { FRAMEWORKS, PROXY } from './frameworks.ts'
import { PROTECTIONS } from './settings.ts'

export interface Answers {
  readonly protect: string
  readonly framework: string
  /** What `trustProxy` becomes. */
  readonly front: readonly string[]
  readonly log?: string | undefined
}

/** The answer for a server to which visitors connect directly. */
const NOTHING = 'nothing'

/** What may stand in front, by the name under which `trustProxy` takes it. */
export const FRONTS: readonly Choice[] = [
  { name: NOTHING, about: 'visitors connect directly' },
  { name: 'loopback', about: 'a server on this machine: nginx, Caddy, Apache …' },
  { name: 'private', about: 'a server or load balancer in a private network: AWS, Docker, Kubernetes …' },
  { name: 'cloudflare', about: 'Cloudflare' },
  { name: 'cloudfront', about: 'Amazon CloudFront' },
  { name: 'fastly', about: 'Fastly' },
  { name: 'gcp', about: 'a load balancer of Google Cloud; add its own address: gcp,203.0.113.7' },
]

const PLACES: readonly Choice[] = [
  ...FRAMEWORKS,
  { name: PROXY, about: 'another one, or another language: a proxy goes in front' },
]

export const readProtect = readChoice(PROTECTIONS)
export const readFramework = readChoice(PLACES)

/** Reads what stands in front. Throws an `InvalidArgumentError` for what `trustProxy` does not take. */
export function readFront(text: string): readonly string[] {
  if (text.toLowerCase() === NOTHING) return []
  const entries = text.split(',').map((entry) => entry.trim())
  try {
    parseTrust(entries)
    return entries
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    throw new InvalidArgumentError(errorText(error).replace(/^trustProxy: /, ''))
  }
}

/** Asks for each answer that no flag gives, the log last. `refuse` ends it once the framework is known. */
export async function askAnswers(
  given: Partial<Answers>,
  detected: string,
  refuse: (framework: string) => void,
  terminal: Terminal,
): Promise<Answers> {
  const { protect, framework, front, log } = given
  if (framework !== undefined) refuse(framework)
  if (protect !== undefined && framework !== undefined && front !== undefined) return { protect, framework, front, log }
  if (!process.stdin.isTTY) {
    const missing = Object.entries({ protect, framework, front }).flatMap(([flag, value]) =>
      value === undefined ? [`--${flag}`] : [],
    )
    throw new SallyportError(
      'invalid_request',
      `Only a terminal can be asked: say ${missing.join(', ')} too, and --log FILE if there is one. sallyport init --help names the answers.`,
    )
  }
  return withQuestions(terminal, async (questions) => {
    const answer = <Given>(known: Given | undefined, question: Question<Given>) =>
      known ?? choose(question, questions, terminal)
    const chosen = await answer(protect, {
      title: 'What is protected?',
      choices: PROTECTIONS,
      initial: 'site',
      read: readProtect,
    })
    const place = await answer(framework, {
      title: 'Which framework is it built with?',
      choices: PLACES,
      initial: detected,
      read: readFramework,
    })
    refuse(place)
    return {
      protect: chosen,
      framework: place,
      front: await answer(front, {
        title: 'What stands in front? Several with commas between, also CIDRs.',
        choices: FRONTS,
        initial: NOTHING,
        read: readFront,
      }),
      log: log ?? ((await questions.ask('\nAn access log, if there is one, for a replay (path): ')) || undefined),
    }
  })
}
