// An AdonisJS site in one file with inspection and the /v1 API: `httpServer().start` is the line of bin/server.ts.
import 'reflect-metadata'
import { createServer } from 'node:http'
import { IgnitorFactory } from '@adonisjs/core/factories'
import { defineConfig } from '@adonisjs/core/http'
import { guardUpgrade, listener, open, v1 } from '@sallyport/node'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env
Object.assign(process.env, { HOST: '127.0.0.1', PORT })

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const ignitor = new IgnitorFactory()
  .withCoreConfig()
  .withCoreProviders()
  .merge({ config: { http: defineConfig({}) } })
  .create(new URL('./', import.meta.url), { importer: (path) => import(path) })

ignitor.tap((app) => {
  app.starting(async () => {
    const router = await app.container.make('router')
    router.get('/', ({ request }) => {
      const { action, inspection } = request.request.sallyport ?? {}
      return { action, networkClass: inspection?.network.verdict.classification }
    })
  })
  app.listen('SIGTERM', () => app.terminate())
  app.listenIf(true, 'SIGINT', () => app.terminate())
  app.terminating(() => sallyport.close())
})

await ignitor.httpServer().start((handle) => {
  const server = createServer(listener(sallyport, v1(sallyport, handle)))
  guardUpgrade(server, sallyport)
  server.once('listening', () => console.log(`Listening on http://127.0.0.1:${server.address().port}`))
  return server
})
