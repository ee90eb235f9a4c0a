import { parentPort } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import { checkPolicyText, type PolicyText, replacePolicy } from './policy-text.ts'

/* The thread of policy-reader.ts: it reads one text after the other, and is ended where one takes too long. */

/** `configuration`: the text in which the policy is put in place of its own; absent: it is checked alone. */
export interface PolicyQuestion {
  readonly text: string
  readonly configuration?: string | undefined
}

export type PolicyAnswer =
  | { readonly checked: PolicyText }
  | { readonly replaced: string }
  | { readonly refused: string }
  | 'ready'

/** Faults and warnings beyond those are not shown. */
const MAX_SHOWN = 100

function answer({ text, configuration }: PolicyQuestion): PolicyAnswer {
  try {
    if (configuration !== undefined) return { replaced: replacePolicy(configuration, text) }
    const { policy, faults, warnings } = checkPolicyText(text)
    const shown = { faults: faults.slice(0, MAX_SHOWN), warnings: warnings.slice(0, MAX_SHOWN) }
    return { checked: policy === undefined ? shown : { policy, ...shown } }
  } catch (error) {
    // A text that is nested too deeply is a RangeError of the parser.
    if (error instanceof SallyportError) return { refused: error.message }
    return { refused: error instanceof RangeError ? 'the text is nested too deeply' : 'the text cannot be read' }
  }
}

parentPort?.on('message', (question: PolicyQuestion) => parentPort?.postMessage(answer(question)))
parentPort?.postMessage('ready' satisfies PolicyAnswer)
