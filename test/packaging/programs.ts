import { spawn } from 'node:child_process'
import { environment } from './npm.ts'

/* Programs of a customer, three lines of ours in each, and what starts them. Each prints its address on stderr once it listens. */
const LISTENS = /^(?:Listening on )?(http:\/\/127\.0\.0\.1:\d+)/m
const OPEN = "const sallyport = await open({ dataDir: 'data', data: { refresh: false, city: false } })"

interface Program {
  /** The packages that it imports, with the expression of each that is used. */
  readonly imports: Readonly<Record<string, string>>
  /** Ends with a `server` that is about to listen. */
  readonly body: string
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  express: {
    imports: { express: 'express', '@sallyport/express': '{ inspection, open }' },
    body: `
      const app = express()
      app.use(inspection(sallyport))
      app.get('/', (req, res) => res.send(req.sallyport.action))
      const server = app.listen(0, '127.0.0.1')`,
  },
  koa: {
    imports: { koa: 'Koa', '@sallyport/koa': '{ inspection, open }' },
    body: `
      const app = new Koa()
      app.use(inspection(sallyport))
      app.use((ctx) => { ctx.body = ctx.state.sallyport.action })
      const server = app.listen(0, '127.0.0.1')`,
  },
  fastify: {
    imports: { fastify: 'Fastify', '@sallyport/fastify': '{ inspection, open }' },
    body: `
      const app = Fastify()
      await app.register(inspection, { sallyport })
      app.get('/', async (request) => request.sallyport.action)
      const { server } = app
      app.listen({ host: '127.0.0.1', port: 0 })`,
  },
  node: {
    imports: { 'node:http': '{ createServer }', '@sallyport/node': '{ listener, open }' },
    body: `
      const server = createServer(listener(sallyport, (req, res) => res.end(req.sallyport.action)))
      server.listen(0, '127.0.0.1')`,
  },
  fetch: {
    imports: { 'node:http': '{ createServer }', '@sallyport/fetch': '{ guard, open }' },
    body: `
      const server = createServer(async (req, res) => {
        const request = new Request('http://' + req.headers.host + req.url, { headers: req.headers })
        const { decision, response, end } = await guard(sallyport, request, { address: req.socket.remoteAddress })
        const answer = response ?? end(new Response(decision.action))
        res.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text())
      })
      server.listen(0, '127.0.0.1')`,
  },
}

/** A site whose accounts better-auth keeps, with one user; it listens as the others do. */
export const GUARDED_ACCOUNTS = `
import { createServer } from 'node:http'
import { listener, open } from '@sallyport/node'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { guardAccounts } from 'sallyport/better-auth'

const policy = { preset: 'observe', limits: ['account-guard'] }
const data = { refresh: false, city: false }
const sallyport = await open({ dataDir: 'accounts', data, net: { outbound: false }, trustProxy: ['loopback'], policy })
const auth = betterAuth({
  secret: 'a secret of more than thirty-two characters',
  baseURL: 'http://127.0.0.1',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  logger: { disabled: true },
  emailAndPassword: { enabled: true },
  plugins: [guardAccounts(sallyport)],
})
await auth.api.signUpEmail({ body: { email: 'ada@shop.example', password: 'a right password', name: 'Ada' } })
const server = createServer(listener(sallyport, toNodeHandler(auth))).listen(0, '127.0.0.1')
server.once('listening', () => console.error('http://127.0.0.1:' + server.address().port))
`

/** Returns the file names and texts of every program, as an ES module and as CommonJS. */
export function programs(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(PROGRAMS).flatMap(([name, { imports, body }]) => {
      const modules = Object.entries(imports)
      const esm = modules.map(([from, names]) => `import ${names} from '${from}'`)
      const cjs = modules.map(([from, names]) => `const ${names} = require('${from}')`)
      const rest = `${OPEN}${body}
      server.once('listening', () => console.error('http://127.0.0.1:' + server.address().port))`
      return [
        [`${name}.mjs`, `${esm.join('\n')}\n${rest}\n`],
        [`${name}.cjs`, `${cjs.join('\n')}\nasync function main() {\n${rest}\n}\nmain()\n`],
      ]
    }),
  )
}

/** Controls a program that listens at `url`: `stop` ends it. */
export interface Running {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** Starts a program of Node, and resolves once it says where it listens. Throws what it said if it ends before. */
export async function openProgram(node: string, args: readonly string[], cwd: string): Promise<Running> {
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
