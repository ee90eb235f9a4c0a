import type { Verification } from './verifier.ts'

/** Says in one sentence how a claim was judged, and why. */
export function summarise({ crawler, judgement, pending, nowhere, foreign }: Verification): string {
  const { name, operator } = crawler
  switch (judgement.outcome) {
    case 'verified':
      return `${name} of ${operator}, verified. ${judgement.decidedBy.detail}`
    case 'spoofed':
      return `Not ${name} of ${operator}: every check that could run refutes it. ${judgement.refutedBy[0].detail}`
    case 'unverifiable': {
      if (foreign) {
        return `It claims to be ${name}; neither confirmed nor refuted, but ${operator} does not send it from this autonomous system.`
      }
      if (pending) return `It claims to be ${name}; the check is running.`
      if (nowhere) {
        return `It claims to be ${name}; neither confirmed nor refuted, because the visitor’s address is not known.`
      }
      const missing = judgement.checks.filter(({ status }) => status === 'could-not-run').map((check) => check.name)
      if (missing.length > 0) {
        return `It claims to be ${name}; neither confirmed nor refuted, because ${missing.join(' and ')} could not run.`
      }
      return crawler.agent === undefined
        ? `It claims to be ${name}; its operator publishes nothing to check that by.`
        : `It claims to be ${name}; only a signature can prove that.`
    }
  }
}
