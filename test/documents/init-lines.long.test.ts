import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { DATA_DIR } from '../data-dir.ts'
import { BIN, makeFolder, started } from '../started.ts'
import { ROOT } from '../workspaces.ts'

/* The lines that `init` prints are put into an application of each framework, as they are: the compiler accepts them, and they run. */
const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'

/** An application without Sallyport, which answers with the decision once the lines are within, and prints its port. */
interface Application {
  readonly imports: Readonly<Record<string, string>>
  readonly before: string
  readonly after: string
}

const LISTEN = "listen(0, '127.0.0.1', () => console.log('took port', Object(server.address()).port))"

const APPLICATIONS: Readonly<Record<string, Application>> = {
  express: {
    imports: { express: 'express' },
    before: 'const app = express()',
    after: `app.get('/', (req, res) => void res.json(req.sallyport))\nconst server = app.${LISTEN}`,
  },
  koa: {
    imports: { koa: 'Koa' },
    before: 'const app = new Koa()',
    after: `app.use((ctx) => void (ctx.body = ctx.state.sallyport))\nconst server = app.${LISTEN}`,
  },
  fastify: {
    imports: { fastify: 'Fastify' },
    before: 'const app = Fastify()',
    after: `app.get('/', async (request) => request.sallyport)
      console.log('took port', new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)`,
  },
  hono: {
    imports: { hono: '{ Hono }', '@hono/node-server': '{ serve }' },
    before: 'const app = new Hono()',
    after: `app.get('/', (c) => c.json(c.get('sallyport')))
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log('took port', port))`,
  },
  node: {
    imports: { 'node:http': '{ createServer }' },
    before: 'const handler = (req, res) => void res.end(JSON.stringify(req.sallyport))',
    after: `server.${LISTEN}`,
  },
}

/** Writes the application with the lines that `init` prints in its folder, and returns its path. */
function writeApplication(t: Test, framework: string, { imports, before, after }: Application, kind: string): string {
  const folder = makeFolder(t)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), kind === 'js' ? '{ "type": "module" }' : '{}')
  if (kind === 'ts') writeFileSync(join(folder, 'tsconfig.json'), '{}')
  const argv = ['init', '--protect', 'site', '--framework', framework, '--front', 'loopback', '--data-dir', DATA_DIR]
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...argv], { cwd: folder, encoding: 'utf8' })
  t.equal(status, 0, stderr)
  const lines = /application:\n\n(.*)\n\nThe configuration is valid/s.exec(stdout)?.[1] ?? ''
  // The tests send nothing to other hosts, and a customer's service downloads lists.
  const quiet = lines.replace("mode: 'monitor',", '$& data: { refresh: false }, net: { outbound: false },')
  const rest = /\/\/ Here follow the routes.*/
  const isCommon = kind === 'cjs'
  const heads = Object.entries(imports).map(([from, names]) =>
    isCommon ? `const ${names} = require('${from}')` : `import ${names} from '${from}'`,
  )
  const body = rest.test(quiet) ? quiet.replace(rest, () => after) : `${quiet}\n${after}`
  t.equal(rest.test(quiet), kind !== 'js', 'CommonJS waits within a function')
  const file = join(folder, `app.${kind}`)
  writeFileSync(file, `${heads.join('\n')}\n${before}\n${body}\n`)
  return file
}

function findFaults(files: readonly string[]): readonly string[] {
  const always = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, noEmit: true, skipLibCheck: true }
  const options = { ...always, strict: true, noImplicitAny: false, allowJs: true, checkJs: true, types: ['node'] }
  const faults = ts.getPreEmitDiagnostics(ts.createProgram(files, options))
  return faults.map(({ file, messageText }) => `${file?.text}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
}

t.test('the compiler accepts the lines, and they run', async (t) => {
  const files = Object.entries(APPLICATIONS).flatMap(([name, application]) =>
    ['js', 'cjs', 'ts'].map((kind) => writeApplication(t, name, application, kind)),
  )
  t.same(findFaults(files), [])
  for (const file of files.filter((name) => !name.endsWith('.ts'))) {
    const { out } = await started(t, [file], {}, 'took port ')
    const port = /took port (\d+)/.exec(out())?.[1]
    const headers = { 'user-agent': GPTBOT, 'x-forwarded-for': '5.9.10.20' }
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers })
    const inspection = { client: { address: '5.9.10.20', via: 'header' } }
    t.match(await answer.json(), { action: 'block', enforced: false, inspection }, file)
  }
})
