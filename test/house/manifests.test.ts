import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OWN_VERSION, publishedWorkspaces, ROOT, SHARED_FILES, sharedFields } from '../workspaces.ts'

/* Each package is installed on its own: what npm and its readers expect must be in every tarball. */
const WORKSPACES = publishedWorkspaces()
/** The versions from which ours are needed: of data, whose patches are newer lists, the first of its line. */
const OURS = new Map(WORKSPACES.map(({ manifest: { name, version } }) => [name, version]))
OURS.set(OWN_VERSION, OURS.get(OWN_VERSION)?.replace(/\d+$/, '0') ?? '')

const OPTIONAL = ['@photostructure/sqlite', '@redis/client', 'pg']

const readText = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8')

t.ok(WORKSPACES.length >= 11, 'the workspaces are found')

for (const { folder, manifest } of WORKSPACES) {
  t.test(manifest.name, async (t) => {
    t.match(manifest, sharedFields(folder), 'what all manifests have: node test/dist/house/write-manifests.js')
    t.match(manifest.description, /^[A-Z].{20,140}\.$/, 'a description of one sentence')
    t.ok((manifest.keywords?.length ?? 0) >= 3, 'keywords')

    for (const file of SHARED_FILES) t.equal(readText(folder, file), readText(file), `${file} is the one of the root`)
    t.ok(manifest.files?.includes('NOTICE'), 'NOTICE is sent')

    if (existsSync(join(ROOT, folder, 'README.md'))) {
      const readme = readText(folder, 'README.md')
      t.ok(readme.startsWith(`# ${manifest.name}\n`), 'a README')
      for (const part of ['```ts\n', '](https://github.com/sallyport/sallyport#readme)'])
        t.ok(readme.includes(part), `the README has ${JSON.stringify(part)}`)
    }

    for (const [path, target] of Object.entries(manifest.exports ?? {})) {
      // Conditions are tried in order: types first, and a default for `require` as for `import`.
      if (typeof target !== 'string') t.same(Object.keys(target), ['types', 'default'], `conditions of ${path}`)
    }

    const needed = { ...manifest.dependencies, ...manifest.optionalDependencies }
    const fixed = Object.entries(needed).filter(([name, range]) => range !== `^${OURS.get(name) ?? range.slice(1)}`)
    t.same(fixed, [], 'run-time dependencies are ranges with a caret; the lock file pins ours')
    for (const name of OPTIONAL) {
      t.notOk(name in needed, `${name} is loaded only where configured`)
      if (name in (manifest.peerDependencies ?? {}))
        t.same(manifest.peerDependenciesMeta?.[name], { optional: true }, `${name} is an optional peer`)
    }
  })
}

t.test('the package that people install has the command', async (t) => {
  t.match(readText('packages/sallyport/package.json'), '"sallyport": "./bin/sallyport.mjs"')
  t.ok(existsSync(join(ROOT, 'packages/sallyport/bin/sallyport.mjs')))
})
