import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { endPass, findRecipe, isKept, openPage, POLICY } from '../clients/application.ts'
import { openReader } from '../clients/reader.ts'
import { openGate } from '../clients/site.ts'
import { makeFolder, started } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { install, run, whyUnreachable } from './npm.ts'

/* Production builds of Next.js and SvelteKit behind the gate, in the versions of our examples: a pass ends while a page is open. */
const FRAMEWORKS = [
  {
    name: 'nextjs',
    // The example has the versions and the configuration.
    example: 'nextjs-server',
    recipe: ['app/layout.jsx', findRecipe('next/script')],
    build: ['next', 'build'],
    start: ['node_modules/next/dist/bin/next', 'start', '.', '--hostname', '127.0.0.1'],
    until: 'Ready in',
  },
  {
    name: 'sveltekit',
    example: 'sveltekit',
    recipe: ['src/app.html', `<!doctype html>${findRecipe('%sveltekit.head%')}<body>%sveltekit.body%</body></html>`],
    build: ['vite', 'build'],
    start: ['build/index.js'],
    until: 'Listening on',
  },
] as const

t.setTimeout(600_000)

for (const framework of FRAMEWORKS) {
  t.test(framework.name, { skip: NO_CHROMIUM }, async (t) => {
    const folder = makeProject(t, framework)
    const installed = await install(folder, [])
    const skip = whyUnreachable(installed)
    if (skip) return t.pass('skipped', { skip })
    const built = await run('npx', framework.build, folder, { NEXT_TELEMETRY_DISABLED: '1' })
    if (built.code !== 0) return t.fail(`${installed.output}${built.output}`)
    const port = String(await freePort())
    const env = { PORT: port, HOST: '127.0.0.1', PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'host' }
    await started(t, framework.start, { ...env, NEXT_TELEMETRY_DISABLED: '1' }, framework.until, folder)
    const site = await openGate(t, makeFolder(t), `http://127.0.0.1:${port}`, { policy: POLICY })
    await t.test('a form with a file', (t) => actsWithoutPass(t, site.url, order, 'Ordered: grün, 13 bytes'))
    await t.test('a soft navigation', (t) =>
      actsWithoutPass(t, site.url, (page) => page.getByRole('link', { name: 'On' }).click(), 'Second, rendered'),
    )
  })
}

/** Makes a folder with the pages, the recipe, and the versions and the configuration of the example. */
function makeProject(t: Test, { name, example, recipe: [path, text] }: (typeof FRAMEWORKS)[number]): string {
  const folder = makeFolder(t)
  const from = join(ROOT, 'examples', example)
  for (const file of readdirSync(from)) if (/\.config\.\w+$/.test(file)) cpSync(join(from, file), join(folder, file))
  cpSync(join(ROOT, 'test/packaging/apps', name), folder, { recursive: true })
  const { dependencies, devDependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  const all = Object.entries({ ...dependencies, ...devDependencies })
  const foreign = Object.fromEntries(all.filter(([name]) => !name.includes('sallyport')))
  const manifest = { private: true, type: 'module', dependencies: foreign }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, path), text)
  return folder
}

async function order(page: Page): Promise<void> {
  const file = { name: 'words.txt', mimeType: 'text/plain', buffer: Buffer.from('ordered words') }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('button', { name: 'Order' }).click()
}

/** Opens the application, ends its pass and acts: the wanted text is there, in the same document. */
async function actsWithoutPass(t: Test, url: string, act: (page: Page) => Promise<void>, text: string): Promise<void> {
  const context = await (await openReader(t))()
  const page = await openPage(context, url)
  await page.waitForLoadState('networkidle')
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  await endPass(context)
  await act(page)
  await page.getByText(text, { exact: true }).first().waitFor()
  t.ok(await isKept(page), 'the document is the same')
  t.same(complaints, [])
}
