/* Programs of a customer, three lines of ours in each, and the requests to them. */
const ASK = `
async function ask(port) {
  const answer = await fetch('http://127.0.0.1:' + port + '/')
  const id = answer.headers.get('x-request-id')
  console.log(JSON.stringify({ status: answer.status, id: id !== null, said: await answer.text() }))
}
const OPTIONS = { dataDir: 'data', data: { refresh: false, city: false } }
`

interface Program {
  /** The packages that it imports, with the expression of each that is used. */
  readonly imports: Readonly<Record<string, string>>
  readonly body: string
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  express: {
    imports: { express: 'express', '@sallyport/express': '{ inspection, open }' },
    body: `
      const sallyport = await open(OPTIONS)
      const app = express()
      app.use(inspection(sallyport))
      app.get('/', (req, res) => res.send(req.sallyport.action))
      const server = app.listen(0, '127.0.0.1', async () => {
        await ask(server.address().port)
        server.close()
        server.closeAllConnections()
        await sallyport.close()
      })`,
  },
  koa: {
    imports: { koa: 'Koa', '@sallyport/koa': '{ inspection, open }' },
    body: `
      const sallyport = await open(OPTIONS)
      const app = new Koa()
      app.use(inspection(sallyport))
      app.use((ctx) => { ctx.body = ctx.state.sallyport.action })
      const server = app.listen(0, '127.0.0.1', async () => {
        await ask(server.address().port)
        server.close()
        server.closeAllConnections()
        await sallyport.close()
      })`,
  },
  fastify: {
    imports: { fastify: 'Fastify', '@sallyport/fastify': '{ inspection, open }' },
    body: `
      const sallyport = await open(OPTIONS)
      const fastify = Fastify({ forceCloseConnections: true })
      await fastify.register(inspection, { sallyport })
      fastify.get('/', async (request) => request.sallyport.action)
      await fastify.listen({ host: '127.0.0.1', port: 0 })
      await ask(fastify.server.address().port)
      await fastify.close()
      await sallyport.close()`,
  },
  http: {
    imports: { 'node:http': '{ createServer }', '@sallyport/node': '{ listener, open }' },
    body: `
      const sallyport = await open(OPTIONS)
      const server = createServer(listener(sallyport, (req, res) => res.end(req.sallyport.action)))
      server.listen(0, '127.0.0.1', async () => {
        await ask(server.address().port)
        server.close()
        server.closeAllConnections()
        await sallyport.close()
      })`,
  },
}

/** File names and texts of every program, as an ES module and as CommonJS. */
export function programs(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(PROGRAMS).flatMap(([name, { imports, body }]) => {
      const modules = Object.entries(imports)
      const esm = modules.map(([from, names]) => `import ${names} from '${from}'`)
      const cjs = modules.map(([from, names]) => `const ${names} = require('${from}')`)
      return [
        [`${name}.mjs`, `${esm.join('\n')}${ASK}${body}\n`],
        [`${name}.cjs`, `${cjs.join('\n')}${ASK}async function main() {${body}\n}\nmain()\n`],
      ]
    }),
  )
}
