import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../../../../..')
const SHARED = ['--ground', '--line', '--ink', '--quiet', '--accent']

/** Custom properties in the order of their blocks: a name that is declared in the light and in the dark has two values. */
function palette(file: string): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = new Map<string, readonly string[]>()
  for (const [, name = '', ...values] of text.matchAll(
    /(--[\w-]+):\s*(?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6}))?/g,
  ))
    found.set(name, [...new Set([...(found.get(name) ?? []), ...values.filter((value) => value !== undefined)])])
  return found
}

t.test('the pages for visitors, the demo and the console have one palette', async (t) => {
  const own = palette('packages/sallyport/page/style.css')
  const visitors = palette('adapters/node/src/answer/page-parts.ts')
  const demo = palette('packages/sallyport/src/cli/demo/style.ts')
  t.same([...visitors.keys()].toSorted(), SHARED.toSorted())
  for (const name of SHARED) {
    t.equal(own.get(name)?.length, 2, `${name} has a light and a dark value`)
    t.same(visitors.get(name), own.get(name), name)
    t.same(demo.get(name), own.get(name), name)
  }
  for (const name of ['--allow', '--flag', '--block']) t.same(demo.get(name), own.get(name), name)
})
