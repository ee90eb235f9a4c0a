import { spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { ofTurn } from '../runner/turn.ts'
import { makeFolder } from '../started.ts'
import { exampleProjects, ROOT } from '../workspaces.ts'
import { addGuardedPage, checkGuardedPage, type GuardedPage } from './guarded-page.ts'
import { environment, install, pack, run, SQLITE, whyUnreachable } from './npm.ts'

/*
 * The examples that are projects of their own, for frameworks with a build and hundreds of megabytes, and for other runtimes:
 * each is copied out of this repository, installed with our tarballs, built, started and visited.
 */
/** `FRAMEWORKS='bun deno' npm run frameworks` selects these projects alone. */
const PROJECTS = ofTurn(process.env['FRAMEWORKS']?.split(' ') ?? exampleProjects())

const LOADER = "export const loader = () => new Response('reached-admin')\n"
const NEXT_ROUTE = "export const dynamic = 'force-dynamic'\nexport const GET = () => new Response('reached-admin')\n"
const NITRO = "export default defineEventHandler(() => 'reached-admin')\n"
const SVELTE = "export const GET = () => new Response('reached-admin')\n"
const BY_URL = "(new URL(request.url).pathname === '/admin' ? new Response('reached-admin') : Response.json(page))"
const NEST =
  "Site.prototype.admin = () => 'reached-admin'; Get('admin')(Site.prototype, 'admin', Object.getOwnPropertyDescriptor(Site.prototype, 'admin')); "

/** Changes a text of the file that opens Sallyport. */
const replaceText = (file: string, text: string, route: string): Page => [file, { edits: [[file, text, route]] }]
const prependRoute = (file: string, text: string, route: string) => replaceText(file, text, route + text)
const addFile = (opens: string, file: string, text: string): Page => [opens, { files: { [file]: text } }]

/** Names the file that opens Sallyport, and the page at /admin. */
type Page = readonly [opens: string, page: GuardedPage]

const PAGES: Readonly<Record<string, Page>> = {
  adonisjs: prependRoute('server.js', 'router.get(', "router.get('/admin', () => 'reached-admin')\n    "),
  bun: replaceText('server.ts', 'Response.json(page)', BY_URL),
  deno: replaceText('server.ts', 'Response.json(page)', BY_URL),
  hapi: prependRoute(
    'server.js',
    'server.route(',
    "server.route({ method: 'GET', path: '/admin', handler: () => 'reached-admin' }); ",
  ),
  nestjs: prependRoute('server.js', 'Get()(', NEST),
  nextjs: addFile('sallyport.ts', 'app/admin/route.ts', NEXT_ROUTE),
  'nextjs-server': addFile('server.js', 'app/admin/route.js', NEXT_ROUTE),
  nitro: addFile('server/sallyport.js', 'server/routes/admin.get.js', NITRO),
  'react-router': [
    'server.js',
    {
      files: { 'app/admin.ts': LOADER },
      edits: [
        ['app/routes.ts', "[index('home.ts')]", "[index('home.ts'), route('admin', 'admin.ts')]"],
        ['app/routes.ts', '{ index,', '{ index, route,'],
      ],
      paths: ['/admin.data'],
    },
  ],
  remix: addFile('server.js', 'app/routes/admin.js', LOADER),
  restify: prependRoute(
    'server.js',
    "server.get('/'",
    "server.get('/admin', (_, res, next) => (res.send('reached-admin'), next())); ",
  ),
  sveltekit: addFile('src/hooks.server.ts', 'src/routes/admin/+server.ts', SVELTE),
}

t.setTimeout(1_800_000)
const folder = makeFolder()
const tarballs = await pack(join(folder, 'tarballs'))

for (const name of PROJECTS) {
  t.test(`examples/${name}`, async (t) => {
    const project = join(folder, name)
    cpSync(join(ROOT, 'examples', name), project, { recursive: true })
    const page = PAGES[name]
    if (page === undefined) return t.fail('PAGES has no page at /admin for this project')
    addGuardedPage(project, ...page)
    const installed = await install(project, [...tarballs, ...SQLITE])
    const skip = whyUnreachable(installed)
    if (skip) return t.pass('skipped', { skip })
    t.equal(installed.code, 0, installed.output)
    const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    if (scripts.build !== undefined) {
      const built = await run('npm', ['run', 'build'], project, { NEXT_TELEMETRY_DISABLED: '1' })
      t.equal(built.code, 0, built.output)
    }
    await visit(t, project)
    // Each project has hundreds of megabytes.
    rmSync(project, { recursive: true })
  })
}

async function visit(t: Test, project: string): Promise<void> {
  const port = await freePort()
  const env = { ...environment(), PORT: String(port), HOST: '127.0.0.1', NEXT_TELEMETRY_DISABLED: '1' }
  const settings = { DATA_DIR: join(folder, 'data'), REFRESH: 'false' }
  // A group of its own: npm starts a shell, that the server, and all of them are to end.
  const child = spawn('npm', ['start'], { cwd: project, env: { ...env, ...settings }, detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += bytes))
  const ended = new Promise((resolve) => child.once('close', resolve))
  const ask = (address: string, path = '/') =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-forwarded-for': address } })
  try {
    while (child.exitCode === null && (await ask('73.162.10.20').catch(() => undefined))?.ok !== true) await delay(100)
    const blocked = await ask('185.220.101.10')
    t.equal(blocked.status, 403, said)
    t.hasStrict(await blocked.json(), { error: 'request_blocked' })
    t.hasStrict(await (await ask('73.162.10.20', '/v1/openapi.json')).json(), { info: { version: '1.1.0' } })
    const page = await ask('73.162.10.20')
    t.ok(page.headers.get('x-request-id'))
    t.same(await page.json(), { action: 'allow', networkClass: 'residential_clean' })
    await checkGuardedPage(t, port)
  } catch (error) {
    t.fail(`${error}: it said ${said}`)
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    await ended
  }
}
