import { parentPort } from 'node:worker_threads'
import {
  type Action,
  type AskedParts,
  compilePolicy,
  decide,
  type Inspection,
  listsNamed,
  type ObservedRequest,
  SallyportError,
  type Unjudged,
} from '@sallyport/core'
import type { ListsOfConfig } from '#features/lists'
import { readLists } from '#features/lists'
import { checkPolicyText, type PolicyText, replacePolicy } from './policy-text.ts'
import type { Config } from './schema.ts'

/* The thread of policy-reader.ts answers one question after the other; its parent ends it if a question takes too long. */

/** A request that was judged before. */
export interface JudgedRequest {
  readonly inspection: Inspection
  readonly observed: Pick<ObservedRequest, 'userAgent' | 'host' | 'ja4'>
}

/** States the action of a policy on a request, and its first reason as a sentence. */
export interface Judgement {
  readonly action: Action
  readonly because: string | undefined
  /** Lists the rules that cannot be judged by what is remembered of the request. */
  readonly unjudged: readonly Unjudged[]
}

/** Asks the thread to check a text, to put a text into a configuration in place of its policy, or to try policies on requests. */
export type PolicyQuestion =
  | { readonly text: string; readonly configuration?: string | undefined; readonly lists: readonly string[] }
  | {
      readonly policies: readonly Config['policy'][]
      readonly requests: readonly JudgedRequest[]
      readonly lists: ListsOfConfig
    }

export interface PolicyAnswer {
  readonly checked?: PolicyText
  readonly replaced?: string
  readonly judged?: readonly (readonly Judgement[])[]
  readonly refused?: string
}

/** Further faults and warnings are not shown. */
const MAX_SHOWN = 100
/** After this time the remaining requests are not judged. */
const JUDGING_MS = 300

async function answer(question: PolicyQuestion): Promise<PolicyAnswer> {
  try {
    if ('policies' in question) return { judged: await judge(question) }
    const { text, configuration, lists } = question
    if (configuration !== undefined) return { replaced: replacePolicy(configuration, text, lists) }
    const { policy, faults, warnings } = checkPolicyText(text, lists)
    const shown = { faults: faults.slice(0, MAX_SHOWN), warnings: warnings.slice(0, MAX_SHOWN) }
    return { checked: policy === undefined ? shown : { policy, ...shown } }
  } catch (error) {
    // A text that is nested too deeply makes the parser throw a RangeError.
    if (error instanceof SallyportError) return { refused: error.message }
    return { refused: error instanceof RangeError ? 'the YAML is nested too deeply' : 'the YAML cannot be parsed' }
  }
}

function rebuildAsked({ userAgent, host, ja4 }: JudgedRequest['observed']): AskedParts {
  const agent = userAgent === undefined ? [] : ['User-Agent', userAgent]
  const kept = [...(userAgent === undefined ? [] : ['user-agent']), 'host']
  return { fields: host === '' ? agent : [...agent, 'Host', host], kept, ja4 }
}

/** Returns the judgements of all policies on the first requests, as many as time permits and at least one. */
async function judge({
  policies,
  requests,
  lists,
}: Extract<PolicyQuestion, { policies: unknown }>): Promise<readonly (readonly Judgement[])[]> {
  const compiled = await Promise.all(
    policies.map(async (policy) => compilePolicy(policy, { lists: await readLists(lists, listsNamed(policy.rules)) })),
  )
  const begun = performance.now()
  const judged: Judgement[][] = []
  for (const { inspection, observed } of requests) {
    const options = { mode: 'enforce', request: rebuildAsked(observed), isDescribed: true } as const
    const judgements = compiled.map((policy): Judgement => {
      const { action, reasons, unjudged = [] } = decide(policy, inspection, options)
      return { action, because: reasons[0]?.text, unjudged }
    })
    judged.push(judgements)
    if (performance.now() - begun > JUDGING_MS) break
  }
  return judged
}

parentPort?.on('message', async (question: PolicyQuestion) => parentPort?.postMessage(await answer(question)))
// Says that the thread is ready.
parentPort?.postMessage({} satisfies PolicyAnswer)
