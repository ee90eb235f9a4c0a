// A NestJS site on Express with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import 'reflect-metadata'
import { Controller, Get, Module, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { guardUpgrade, inspection, open, v1 } from '@sallyport/express'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

// With decorators in the compiler: @Controller() above the class, @Get() above the method, @Req() before its parameter.
class Site {
  show(req) {
    const { action, inspection } = req.sallyport ?? {}
    return { action, networkClass: inspection?.network.verdict.classification }
  }
}
const show = Object.getOwnPropertyDescriptor(Site.prototype, 'show')
Controller()(Site)
Get()(Site.prototype, 'show', show)
Req()(Site.prototype, 'show', 0)
class SiteModule {}
Module({ controllers: [Site] })(SiteModule)

const app = await NestFactory.create(SiteModule, { logger: false })
app.use(inspection(sallyport))
app.use(v1(sallyport))
const server = app.getHttpServer()
guardUpgrade(server, sallyport)
await app.listen(Number(PORT), '127.0.0.1')
console.log(`Listening on http://127.0.0.1:${server.address().port}`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => app.close().then(() => sallyport.close()))
}
