// Inspection and the /v1 API in a server of Bun.
import { guard, open, v1 } from '@sallyport/fetch'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const server = Bun.serve({
  port: Number(PORT),
  hostname: '127.0.0.1',
  async fetch(request, server) {
    const place = { address: server.requestIP(request)?.address }
    const { decision, response, end } = await guard(sallyport, request, place)
    if (response !== undefined) return response
    const { action, inspection } = decision ?? {}
    const page = { action, networkClass: inspection?.network.verdict.classification }
    return end((await v1(sallyport, request, place)) ?? Response.json(page))
  },
})
console.log(`Listening on ${server.url}`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.stop().then(() => sallyport.close()))
}
