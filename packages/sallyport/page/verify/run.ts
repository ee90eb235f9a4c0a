import type { EvidenceReport } from '@sallyport/ledger/verify'
import { SHARED_BYTES } from './question.ts'

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

const LINKS: { policy?: { createScriptURL(url: string): string } | undefined } = {}

/** Verifies the text of evidence here, by the code that Node runs: one worker computes and waits, another one has WebCrypto. */
export async function verifyHere(evidence: string, keys: unknown): Promise<EvidenceReport> {
  if (!globalThis.isSecureContext || !globalThis.crossOriginIsolated) {
    throw new Error('The browser verifies on this machine or over https alone: elsewhere it has no WebCrypto.')
  }
  const [verifier, answerer] = [workerOf('verify-worker'), workerOf('crypto-worker')]
  const { port1, port2 } = new MessageChannel()
  const memory = new SharedArrayBuffer(SHARED_BYTES)
  try {
    const ready = messageOf(answerer)
    answerer.postMessage({ port: port2, memory }, [port2])
    await ready
    const answered = messageOf(verifier)
    verifier.postMessage({ evidence, keys, port: port1, memory }, [port1])
    const { report, failure } = (await answered) as Verified
    if (report === undefined) throw new Error(failure ?? 'the verifier gave no answer')
    return report
  } finally {
    verifier.terminate()
    answerer.terminate()
  }
}

/** The answer of the worker that verifies. */
interface Verified {
  readonly report?: EvidenceReport | undefined
  readonly failure?: string | undefined
}

/** The two files of ours, and no other, may become scripts. */
function workerOf(name: 'verify-worker' | 'crypto-worker'): Worker {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: TrustedTypes | undefined }
  const url = `/assets/${name}.js`
  if (trustedTypes === undefined) return new Worker(url, { type: 'module' })
  LINKS.policy ??= trustedTypes.createPolicy('sallyport', { createScriptURL: (given) => given })
  return new Worker(LINKS.policy.createScriptURL(url), { type: 'module' })
}

function messageOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message || 'the verifier could not be loaded'))
  })
}
