import { parseUrl } from '../../parse-url.ts'
import { AGENT_BASES } from '../../values/agent-verdict.ts'
import type { Inspection } from '../../values/inspection.ts'
import { AGENT_CLASSES, type AgentClass } from '../../vocabulary.ts'
import { boundsTest, createBounds, testBounds } from '../language/bounds.ts'
import { unknown } from '../language/fault.ts'
import { anyWord, foldedSet, texts, type Values } from '../language/values.ts'
import { OPERATORS, SLUGS } from './crawler.ts'
import { mayRestOn, OF_AGENT, testValue, word } from './match-word.ts'

const FLAG: Values<boolean> = { shape: 'flag', faults: () => [] }

const CONFIDENCE = createBounds('confidence', 'share', [0.61, 0.9], 1)

/** Holds conditions on the verdicts about the agent and about the network. */
export const VERDICT_WORDS = {
  class: word('Client classes', anyWord(AGENT_CLASSES), {
    ...OF_AGENT,
    example: ['impostor'],
    test: (given) => testValue(given, readClass),
  }),
  basis: word('Basis of the client verdict', anyWord(AGENT_BASES), {
    ...OF_AGENT,
    example: ['contradiction'],
    test: (given) => testValue(given, ({ agent }) => agent.basis),
  }),
  headless: word('Whether the client claims to be a headless browser', FLAG, {
    ...OF_AGENT,
    example: true,
    test(given) {
      return ({ agent }) => agent.headless === given
    },
  }),
  confidence: word('Confidence of the client verdict', CONFIDENCE, {
    asks: 'agent',
    test: (given) => testBounds(given, ({ agent }) => agent.confidence),
  }),
  botProbability: word('Probability that the client is a bot', createBounds('probability', 'share', [0.9, 0.99], 1), {
    asks: 'agent',
    test: (given) => testBounds(given, ({ agent }) => agent.botProbability),
  }),
  networkConfidence: word('Confidence of the network verdict; `atMost` ignores age', CONFIDENCE, {
    asks: 'asn',
    test({ atLeast, atMost }) {
      const [isSure, isUnsure] = [boundsTest({ atLeast }), boundsTest({ atMost })]
      return ({ network: { verdict, ageless = verdict.confidence } }) => isSure(verdict.confidence) && isUnsure(ageless)
    },
  }),
  identity: word('Verified identities: crawler slugs, signature agent IDs, or * for any', texts(identityFault), {
    ...OF_AGENT,
    example: ['https://chatgpt.com'],
    test(given) {
      const any = given.includes('*')
      return ({ agent }) => agent.identity?.verified === true && (any || given.includes(agent.identity.name))
    },
  }),
  /** Matches vendors of the AI, as verdicts show them, in any case. */
  vendor: word('AI vendors, as in verdicts', texts(vendorFault), {
    ...OF_AGENT,
    example: ['OpenAI'],
    test(given, rule) {
      const vendors = foldedSet(given)
      return (inspection) => {
        const { ai } = inspection.agent
        return ai !== undefined && vendors.has(ai.vendor.toLowerCase()) && mayRestOn(inspection, rule)
      }
    },
  }),
}

/**
 * Returns the class that rules match. For a policy a crawler's name is forged where it comes from a system that its operator does not send
 * from, although the specification keeps the word `spoofed` for a name that every check refutes.
 */
function readClass({ agent, crawler }: Inspection): AgentClass {
  const rests = agent.basis === 'crawler' || agent.basis === 'ai-name'
  return rests && crawler?.forged === true ? 'impostor' : agent.class
}

function identityFault(name: string): string | undefined {
  return name === '*' || SLUGS.includes(name) || isIdentifier(name) ? undefined : unknown(name, SLUGS)
}

function vendorFault(name: string): string | undefined {
  const isKnown = OPERATORS.some((vendor) => vendor.toLowerCase() === name.toLowerCase())
  return isKnown || isIdentifier(name) ? undefined : unknown(name, OPERATORS)
}

/** Reports whether a text is the identifier of a signature agent as verdicts write it: a URL without query, an origin without a slash. */
function isIdentifier(text: string): boolean {
  const url = parseUrl(text)
  return url !== undefined && text === url.origin + (url.pathname === '/' ? '' : url.pathname)
}
