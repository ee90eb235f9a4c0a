import { AI_TOKENS } from '@sallyport/data/automation'
import { AGENT_BASES, type AgentBasis } from '../../values/agent-verdict.ts'
import type { Inspection } from '../../values/inspection.ts'
import { AGENT_CLASSES, type AgentClass } from '../../vocabulary.ts'
import { type Bounds, boundsTest, createBounds } from '../language/bounds.ts'
import { unknown } from '../language/fault.ts'
import { folded, foldedSet, someOf, texts, type Values } from '../language/values.ts'
import { OPERATORS, SLUGS } from './crawler.ts'
import { mayRestOn, type WordsOf } from './match-word.ts'

/** Conditions on the verdicts about the agent and about the network. */
export interface VerdictMatch {
  readonly class?: readonly AgentClass[] | undefined
  /** Grounds of the verdict about the agent. */
  readonly basis?: readonly AgentBasis[] | undefined
  /** Browsers without a person in front of them, as far as they say so. */
  readonly headless?: boolean | undefined
  /** How sure the verdict about the agent is, 0 to 1, both bounds within. */
  readonly confidence?: Bounds | undefined
  /** How likely the client is a program, 0 to 1, both bounds within. */
  readonly botProbability?: Bounds | undefined
  /** How sure the verdict about the network is, 0 to 1, both bounds within. */
  readonly networkConfidence?: Bounds | undefined
  /** Proven identities: slugs, identifiers of signature agents, or `*` for any. */
  readonly identity?: readonly string[] | undefined
  /** Vendors of the AI, as verdicts show them; the case does not count. */
  readonly vendor?: readonly string[] | undefined
}

const FLAG: Values<boolean> = { shape: 'flag', faults: () => [] }

const CONFIDENCE = createBounds('confidence', 'share', [0.61, 0.9], 1)

const VENDORS = [...new Set([...OPERATORS, ...AI_TOKENS.map(({ vendor }) => vendor)])]

export const VERDICT_WORDS: WordsOf<VerdictMatch> = {
  class: {
    values: someOf(AGENT_CLASSES),
    asks: 'agent',
    robots: true,
    description: 'Classes of clients',
    example: ['impostor'],
    test(given) {
      return (inspection) => given.includes(readClass(inspection))
    },
  },
  basis: {
    values: someOf(AGENT_BASES),
    asks: 'agent',
    robots: true,
    description: 'Basis of the verdict about the client',
    example: ['contradiction'],
    test(given) {
      return ({ agent }) => given.includes(agent.basis)
    },
  },
  headless: {
    values: FLAG,
    asks: 'agent',
    robots: true,
    description: 'Whether the client says that it is a headless browser',
    example: true,
    test(given) {
      return ({ agent }) => agent.headless === given
    },
  },
  confidence: {
    values: CONFIDENCE,
    asks: 'agent',
    robots: false,
    description: 'Confidence of the verdict about the client',
    test(given) {
      const isWithin = boundsTest(given)
      return ({ agent }) => isWithin(agent.confidence)
    },
  },
  botProbability: {
    values: createBounds('probability', 'share', [0.9, 0.99], 1),
    asks: 'agent',
    robots: false,
    description: 'Probability that the client is a program',
    test(given) {
      const isWithin = boundsTest(given)
      return ({ agent }) => isWithin(agent.botProbability)
    },
  },
  networkConfidence: {
    values: CONFIDENCE,
    asks: 'asn',
    robots: false,
    description: 'Confidence of the verdict about the network',
    test(given) {
      const isWithin = boundsTest(given)
      return ({ network }) => isWithin(network.verdict.confidence)
    },
  },
  identity: {
    values: texts(identityFault),
    asks: 'agent',
    robots: true,
    description: 'Proven identities: slugs, identifiers of signature agents, or * for any',
    example: ['https://chatgpt.com'],
    test(given) {
      const any = given.includes('*')
      return ({ agent }) => agent.identity?.verified === true && (any || given.includes(agent.identity.name))
    },
  },
  vendor: {
    values: texts(vendorFault),
    asks: 'agent',
    robots: true,
    description: 'Operators of an AI, as verdicts show them',
    example: ['OpenAI'],
    test(given, rule) {
      const vendors = foldedSet(given)
      return (inspection) => {
        const { ai } = inspection.agent
        return ai !== undefined && vendors.has(folded(ai.vendor)) && mayRestOn(inspection, rule)
      }
    },
  },
}

/**
 * The class that rules match. A crawler's name from a system that its operator does not send from is forged for a policy,
 * although the specification keeps the word `spoofed` for a name that every check refutes.
 */
function readClass({ agent, crawler }: Inspection): AgentClass {
  const rests = agent.basis === 'crawler' || agent.basis === 'ai-name'
  return rests && crawler?.forged === true ? 'impostor' : agent.class
}

function identityFault(name: string): string | undefined {
  return name === '*' || SLUGS.includes(name) || isIdentifier(name) ? undefined : unknown(name, SLUGS)
}

function vendorFault(name: string): string | undefined {
  const isKnown = VENDORS.some((vendor) => vendor.toLowerCase() === name.toLowerCase())
  return isKnown || isIdentifier(name) ? undefined : unknown(name, VENDORS)
}

/** The identifier of a signature agent as verdicts write it: a URL without query, an origin without a slash. */
function isIdentifier(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, pathname } = new URL(text)
  return text === origin + (pathname === '/' ? '' : pathname)
}
