import { spawn } from 'node:child_process'
import { environment } from './npm.ts'

/* Programs of a customer, three lines of ours in each, and what starts them. Each prints its address on stderr once it listens. */
const LISTENS = /^(?:Listening on )?(http:\/\/127\.0\.0\.1:\d+)/m
const OPEN = "const sallyport = await open({ dataDir: 'data', data: { refresh: false, city: false } })"

const LISTEN = "const server = app.listen(0, '127.0.0.1')"

/** The packages that a program imports, with the expression of each that is used, and its body, which ends with a `server`. */
type Program = readonly [imports: Readonly<Record<string, string>>, body: string]

const PROGRAMS: Readonly<Record<string, Program>> = {
  express: [
    { express: 'express', '@sallyport/express': '{ inspection, open }' },
    `const app = express()
      app.use(inspection(sallyport))
      app.get('/', (req, res) => res.send(req.sallyport.action))
      ${LISTEN}`,
  ],
  koa: [
    { koa: 'Koa', '@sallyport/koa': '{ inspection, open }' },
    `const app = new Koa()
      app.use(inspection(sallyport))
      app.use((ctx) => { ctx.body = ctx.state.sallyport.action })
      ${LISTEN}`,
  ],
  fastify: [
    { fastify: 'Fastify', '@sallyport/fastify': '{ inspection, open }' },
    `const app = Fastify()
      await app.register(inspection, { sallyport })
      app.get('/', async (request) => request.sallyport.action)
      const { server } = app
      app.listen({ host: '127.0.0.1', port: 0 })`,
  ],
  node: [
    { 'node:http': '{ createServer }', '@sallyport/node': '{ listener, open }' },
    `const app = createServer(listener(sallyport, (req, res) => res.end(req.sallyport.action)))
      ${LISTEN}`,
  ],
  fetch: [
    { 'node:http': '{ createServer }', '@sallyport/fetch': '{ guard, open }' },
    `const app = createServer(async (req, res) => {
        const request = new Request('http://' + req.headers.host + req.url, { headers: req.headers })
        const { decision, response, end } = await guard(sallyport, request, { address: req.socket.remoteAddress })
        const answer = response ?? end(new Response(decision.action))
        res.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text())
      })
      ${LISTEN}`,
  ],
}

const SAY = "server.once('listening', () => console.error('http://127.0.0.1:' + server.address().port))"

/** Returns the file names and texts of every program, as an ES module and as CommonJS. */
export function programs(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(PROGRAMS).flatMap(([name, [imports, body]]) => {
      const modules = Object.entries(imports)
      const esm = modules.map(([from, names]) => `import ${names} from '${from}'`)
      const cjs = modules.map(([from, names]) => `const ${names} = require('${from}')`)
      const rest = [OPEN, body, SAY].join('\n')
      return [
        [`${name}.mjs`, `${esm.join('\n')}\n${rest}\n`],
        [`${name}.cjs`, `${cjs.join('\n')}\nasync function main() {\n${rest}\n}\nmain()\n`],
      ]
    }),
  )
}

/** Starts a program of Node, and resolves once it says where it listens. Throws what it said if it ends before. */
export async function openProgram(node: string, args: readonly string[], cwd: string) {
  const child = spawn(node, args, { cwd, env: environment(), stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (bytes: Buffer) => {
      said += bytes
      const [, found] = LISTENS.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    void closed.then(() => reject(new Error(said)))
  })
  return {
    pid: child.pid ?? 0,
    url,
    async stop() {
      child.kill('SIGKILL')
      await closed
    },
  }
}
