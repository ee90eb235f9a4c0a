import type { Verification } from './verifier.ts'

/** Says in one sentence how a claim was judged, and why. */
export function summarise({ crawler, judgement, pending, nowhere, foreign }: Verification): string {
  const { name, operator } = crawler
  switch (judgement.outcome) {
    case 'verified':
      return `The client is ${name} of ${operator}, verified. ${judgement.decidedBy.detail}`
    case 'spoofed':
      return `The client is not ${name} of ${operator}: every check that could run refutes the claim. ${judgement.refutedBy[0].detail}`
    case 'unverifiable': {
      if (foreign) {
        return `The client claims to be ${name}. The claim is neither confirmed nor refuted, but ${operator} does not send ${name} from this autonomous system.`
      }
      if (pending) return `The client claims to be ${name}. The check is running.`
      if (nowhere) {
        return `The client claims to be ${name}. The claim is neither confirmed nor refuted, because the visitor’s address is not known.`
      }
      const missing = judgement.checks.filter(({ status }) => status === 'could-not-run').map((check) => check.name)
      if (missing.length > 0) {
        return `The client claims to be ${name}. The claim is neither confirmed nor refuted, because ${missing.join(' and ')} could not run.`
      }
      return crawler.agent === undefined
        ? `The client claims to be ${name}. Its operator publishes nothing that could verify the claim.`
        : `The client claims to be ${name}. Only a signature can prove the claim.`
    }
  }
}
