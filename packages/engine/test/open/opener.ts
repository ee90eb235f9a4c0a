import { open } from '../../src/open/open.ts'

/* One of several processes that open the same dataDir: says whether it compiled, and what it then knows. */
let compiled = false
const sallyport = await open(JSON.parse(process.argv[2] ?? '{}'), {
  onProgress: () => {
    compiled = true
  },
})
const request = { peer: '8.4.0.1', method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
const verdict = sallyport.inspect(request).network.verdict.classification
await sallyport.close()
process.send?.({ compiled, verdict })
process.disconnect?.()
