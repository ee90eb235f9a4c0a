import { verifyEvidence } from '@sallyport/ledger/verify'
import { useLine } from './question.ts'

interface Task {
  readonly evidence: string
  readonly keys: unknown
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
}

addEventListener('message', ({ data }: MessageEvent<Task>) => {
  const { evidence, keys, port, memory } = data
  useLine({ port, memory })
  try {
    postMessage({ report: keys === undefined ? verifyEvidence(evidence) : verifyEvidence(evidence, keys) })
  } catch (error) {
    postMessage({ failure: error instanceof Error ? error.message : String(error) })
  }
})
