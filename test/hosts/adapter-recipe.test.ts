import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'

/* The recipe of CONTRIBUTING for a new adapter: the adapters that are there have the files that it lists, and write no others by hand. */
const MAX_PLACES = 9
/** `write-manifests.js` makes these. */
const MADE = ['LICENSE', 'NOTICE', 'tsconfig.json']

const text = readFileSync(join(ROOT, '.github/CONTRIBUTING.md'), 'utf8')
const [, section = ''] = /^## How to add an adapter\n(.*?)^## /ms.exec(text) ?? []
const PLACES = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path)

t.ok(PLACES.length > 4 && PLACES.length <= MAX_PLACES, `${PLACES.length} places`)

for (const name of ['express', 'koa', 'fastify']) {
  t.test(name, async (t) => {
    const places = PLACES.map((path) => path.replaceAll('NAME', name))
    for (const place of places) {
      t.ok(existsSync(join(ROOT, place)), `${place} is there`)
      if (place.endsWith('index.ts') || place.includes(`${name}-host`)) continue
      t.match(readFileSync(join(ROOT, place), 'utf8'), `@sallyport/${name}`, `${place} names the adapter`)
    }
    const files = readdirSync(join(ROOT, 'adapters', name), { withFileTypes: true }).filter((entry) => entry.isFile())
    const known = [...places, ...MADE.map((file) => `adapters/${name}/${file}`)]
    t.same(
      files.map((file) => `adapters/${name}/${file.name}`).filter((path) => !known.includes(path)),
      [],
      'each file that is made by hand is listed',
    )
  })
}
