import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/open/index.ts'

/* One process of a fleet: says what it knows at first, after each swap, and what its operator would be notified of. */
const config = JSON.parse(process.argv[2] ?? '{}')
let compiled = 0
const sallyport = await open(config, {
  onProgress: () => compiled++,
  onNotice: () => {},
  metrics: { onSwap: () => setImmediate(say, 'swapped') },
  notifier: {
    raise: ({ over = false, text }) => process.send?.({ what: over ? 'over' : 'refused', text }),
    refused() {},
  },
})
say('open')

function say(what: string): void {
  const request = {
    peer: '8.2.8.1',
    method: 'GET',
    target: '/',
    scheme: 'http',
    httpVersion: '1.1',
    fields: [],
  } as const
  const verdict = sallyport.inspect(request).network.verdict.classification
  const hasParsed = existsSync(join(config.dataDir, 'parsed'))
  process.send?.({ what, verdict, compiled, hasParsed })
}

process.once('disconnect', () => sallyport.close())
