import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'
import { FRAMEWORKS, importedName, readManifest } from './rooms.ts'

/* An importer of an adapter has not opened a Sallyport yet: a test run, a build, a process that only serves files. */
const LIGHT = ['adapters/node', 'adapters/fetch', ...FRAMEWORKS]
const SHARED = ['leven', 'negotiator', 'structured-headers']

/** Packages and files of ours that a built file loads with itself, by way of any of these; types are gone from it. */
function listImports(entry: string) {
  const packages = new Set<string>()
  const files = new Set([entry])
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    for (const { fileName: specifier, pos } of ts.preProcessFile(text, true, true).importedFiles) {
      if (specifier.startsWith('node:') || text.slice(0, pos).trimEnd().endsWith('(')) continue
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier))
      else if (/^(?:#|@sallyport\/)/.test(specifier)) files.add(createRequire(file).resolve(specifier))
      else packages.add(importedName(specifier))
    }
  }
  return { packages, files }
}

for (const adapter of LIGHT) {
  t.test(`importing ${adapter} loads no part of the inspection`, async (t) => {
    const { packages } = listImports(join(ROOT, adapter, 'dist/src/index.js'))
    const own = Object.keys(readManifest(adapter)['dependencies'] ?? {})
    t.same(packages, new Set([...SHARED, ...own.filter((name) => !name.startsWith('@sallyport/'))]))
  })
}

t.test('opening a service loads what its first decision needs, and no more', async (t) => {
  const { packages, files } = listImports(join(ROOT, 'packages/engine/dist/src/opening.js'))
  const needed = ['leven', 'lru-cache', 'prom-client', 'proxy-from-env', 're2js', 'sonic-boom', 'structured-headers']
  t.same(packages, new Set([...needed, '@eslint-community/regexpp', 'tldts', 'zod']))
  const late = /packages\/(?:engine\/dist\/src\/(?:api|attestation|doctor|whois)|ledger)\//
  t.notOk([...files].find((file) => late.test(file)))
})

t.test('the proxy takes entries of the engine, and not the whole', async (t) => {
  const { files } = listImports(join(ROOT, 'adapters/proxy/dist/src/index.js'))
  const engine = [...files].filter((file) => file.includes('packages/engine/dist/src/'))
  t.ok(engine.length > 1)
  t.notOk(engine.includes(join(ROOT, 'packages/engine/dist/src/index.js')))
})

t.test('modules left out are there to be found', async (t) => {
  const { packages } = listImports(join(ROOT, 'packages/core/dist/src/index.js'))
  for (const name of ['tldts', 're2js', 'lru-cache']) t.ok(packages.has(name), name)
})

t.test('@sallyport/express alone installs at most 25 foreign packages, beside its framework', async (t) => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const found = new Set(['adapters/express'])
  for (const place of found) {
    for (const name of Object.keys(packages[place].dependencies ?? {})) {
      let above = place
      while (above !== '.' && !(join(above, 'node_modules', name) in packages)) above = dirname(above)
      const path = join(above, 'node_modules', name)
      found.add(packages[path].resolved ?? path)
    }
  }
  const foreign = [...found].filter((place) => place.includes('node_modules/'))
  t.match(foreign.join(), /\bundici\b/, 'the lock file is read')
  t.ok(foreign.length <= 25, `${foreign.length}: ${foreign.join(' ')}`)
})
