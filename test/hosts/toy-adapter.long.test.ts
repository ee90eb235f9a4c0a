import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { checkHost } from './check-host.ts'
import { HOSTS, type Host, running } from './hosts.ts'
import { createTestServer, HTTP1 } from './protocols.ts'
import { madeScene } from './scene.ts'
import { echo } from './site.ts'
import { guardUpgrade, inspection, v1 } from './toy-adapter.ts'
import { toy } from './toy-framework.ts'

/*
 * A new adapter by the recipe of CONTRIBUTING: the files that it lists and no others are made for a framework of twenty
 * lines, in a copy of the repository. The house must hold there, and the adapter is held to the conformance table.
 */
const MAX_PLACES = 9

/** Lists the files that the recipe names for an adapter of this name. */
function placesFor(name: string): readonly string[] {
  const text = readFileSync(join(ROOT, '.github/CONTRIBUTING.md'), 'utf8')
  const [, section = ''] = /^## How to add an adapter\n(.*?)^## /ms.exec(text) ?? []
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path.replaceAll('NAME', name))
}

const TOY: Host = {
  name: 'a toy',
  speaks: [],
  async start(sallyport, base, options = {}, over = HTTP1) {
    const site = toy(inspection(sallyport, options), v1(sallyport, { base }), async ({ req, res }) => {
      res.setHeader('content-type', 'application/json; charset=utf-8')
      res.end(JSON.stringify(await echo(req, req.url)))
    })
    const server = createTestServer(over, site)
    guardUpgrade(server, sallyport, options)
    return running(server)
  },
}

t.test('the conformance table', async (t) => {
  const scene = madeScene()
  t.teardown(() => scene.close())
  const expected = new Map()
  for (const host of [...HOSTS.slice(0, 1), TOY]) {
    await t.test(host.name, (t) => checkHost(t, host, scene, '/detect', expected))
  }
})

/** A copy of the house as its tests read it: files are copied, and folders below the workspaces are those of this one. */
function copyOfHouse(): string {
  const copy = mkdtempSync(join(tmpdir(), 'sallyport-toy-'))
  t.teardown(() => rmSync(copy, { recursive: true }))
  const shallow = (folder: string): void => {
    mkdirSync(join(copy, folder), { recursive: true })
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isFile()) copyFileSync(join(ROOT, path), join(copy, path))
      else if (folder !== '' || entry.name === 'node_modules') symlinkSync(join(ROOT, path), join(copy, path))
    }
  }
  const rooms = ['packages', 'adapters'].flatMap((floor) =>
    readdirSync(join(ROOT, floor)).map((name) => join(floor, name)),
  )
  for (const folder of ['', 'data', ...rooms, 'test/hosts', 'test/packaging', 'test/house']) shallow(folder)
  for (const path of ['dist/house', 'dist/workspaces.js', 'package.json', 'tsconfig.json']) {
    cpSync(join(ROOT, 'test', path), join(copy, 'test', path), { recursive: true })
  }
  return copy
}

const SOURCE = readFileSync(join(ROOT, 'test/hosts/toy-adapter.ts'), 'utf8').replace('./toy-framework.ts', 'toy')
const VERSION = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
const MANIFEST = {
  name: '@sallyport/toy',
  version: VERSION,
  description: 'Sallyport inspection and /v1 API for a made framework.',
  keywords: ['sallyport', 'toy', 'middleware'],
  exports: { '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' } },
  dependencies: { '@sallyport/node': `^${VERSION}` },
  peerDependencies: { toy: '^1' },
  files: ['dist/src', 'src'],
}
const README = `# @sallyport/toy

[Sallyport](https://github.com/sallyport/sallyport#readme) for a made framework.

\`\`\`sh
npm install sallyport @sallyport/toy toy
\`\`\`

\`\`\`ts
import { inspection } from '@sallyport/toy'
\`\`\`
`

/** The files of the adapter's own folder; at the other places of the recipe there is a file already. */
const MADE: Readonly<Record<string, string>> = {
  'adapters/toy/package.json': JSON.stringify(MANIFEST),
  'adapters/toy/src/index.ts': SOURCE,
  'adapters/toy/test/toy-host.test.ts': "import t from 'tap'\n\nt.pass()\n",
  'adapters/toy/README.md': README,
}

t.test('the places of the recipe are all that a new adapter needs', async (t) => {
  const places = placesFor('toy')
  t.ok(places.length > 4 && places.length <= MAX_PLACES, `${places.length} places`)
  const copy = copyOfHouse()
  for (const place of places) {
    const text = MADE[place]
    t.ok(text !== undefined || existsSync(join(ROOT, place)), `${place} is made, or there to be edited`)
    if (text === undefined) continue
    mkdirSync(dirname(join(copy, place)), { recursive: true })
    writeFileSync(join(copy, place), text)
  }
  t.same(
    Object.keys(MADE).filter((place) => !places.includes(place)),
    [],
    'each file of its folder that is made by hand is listed',
  )
  const node = (...argv: readonly string[]): string =>
    execFileSync(process.execPath, argv, { cwd: copy, encoding: 'utf8' })
  node('test/dist/house/write-manifests.js')
  const folder = join(copy, 'adapters/toy')
  t.same(readdirSync(folder).sort(), ['LICENSE', 'NOTICE', 'README.md', 'package.json', 'src', 'test', 'tsconfig.json'])
  t.same(readdirSync(join(folder, 'test')), ['toy-host.test.ts'])
  t.match(JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')), {
    references: [{ path: '../../adapters/node' }],
  })
  for (const file of ['tsconfig.json', 'test/tsconfig.json']) {
    const { references } = JSON.parse(readFileSync(join(copy, file), 'utf8'))
    const own = references.filter(({ path }: { readonly path: string }) => path.endsWith('adapters/toy'))
    t.equal(own.length, 1, `${file} refers to it once`)
  }

  mkdirSync(join(folder, 'dist/src'), { recursive: true })
  for (const kind of ['js', 'd.ts']) {
    copyFileSync(join(ROOT, `test/dist/hosts/toy-adapter.${kind}`), join(folder, `dist/src/index.${kind}`))
    copyFileSync(join(ROOT, `test/dist/hosts/toy-framework.${kind}`), join(folder, `dist/src/toy-framework.${kind}`))
  }
  for (const test of ['architecture', 'light-adapters', 'manifests']) {
    const said = node(`test/dist/house/${test}.test.js`)
    t.match(said, /^ok \d+ - .*toy/m, `${test} looks at it, and holds`)
  }
  node('test/dist/house/write-surface.js')
  t.match(readFileSync(join(copy, 'test/house/surface.txt'), 'utf8'), '@sallyport/toy\n  guardUpgrade\n  inspection\n')
  const ask = "import { PUBLIC } from './test/dist/house/surface.js'; process.stdout.write(PUBLIC.join())"
  t.match(node('--input-type=module', '-e', ask), '@sallyport/toy')
})
