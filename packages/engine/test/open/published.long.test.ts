import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type BundleRig, made, openBundleRig } from './bundle-rig.ts'

const ONE = '8.2.7.0/24\n'
const OTHER = '8.2.8.0/24\n'

t.test('a publish that brings nothing new is one small file', async (t) => {
  const rig = await openBundleRig(t)
  const reader = rig.reader('reader')
  const first = await rig.publish(ONE)
  t.match((await reader.pull()).pulled, { state: 'updated', fetched: 3 })
  const second = await rig.publish(ONE)
  t.ok(second.manifest.version > first.manifest.version)
  t.match((await reader.pull()).pulled, { state: 'updated', fetched: 0 })
  t.equal(reader.held()?.digest, second.digest)
  t.same(
    readdirSync(rig.folder).filter((name) => name.endsWith('.sig')).length,
    2,
    'the manifest before may still be read, and no other',
  )
})

/** Wrongs that a publisher, or somebody between, can do with the second publish. */
const HARMS: Readonly<Record<string, readonly [reason: RegExp, harm: (rig: BundleRig) => unknown]>> = {
  'the signature of another': [/its signature is not of data\.fromKey/, (rig) => rig.publish(OTHER, made())],
  'a manifest that was changed': [
    /half-written: [0-9a-f]{64}\.sig is not there/,
    (rig) => rig.serve('manifest.json', changed(rig)),
  ],
  'a manifest that was changed, with the signature of what it was': [
    /its signature is not of data\.fromKey/,
    async (rig) => {
      const bytes = changed(rig)
      const { digest } = await rig.sign(bytes)
      const name = readdirSync(rig.folder).find((file) => file.endsWith('.sig')) ?? ''
      rig.serve('manifest.json', bytes)
      rig.serve(`${digest}.sig`, readFileSync(join(rig.folder, name)))
    },
  ],
  'no manifest at all': [/it is not JSON/, (rig) => signAs(rig, Buffer.from('<html>'))],
  'a lower version': [/it is version 7, and version \d+ is in use/, (rig) => rig.replace({ version: 7 })],
  'one that has expired': [
    /it has expired/,
    (rig) => rig.replace({ version: later(), expires: '2026-01-01T00:00:00Z' }),
  ],
  'one of the future': [/of the future/, (rig) => rig.replace({ version: later(), created: '2999-01-01T00:00:00Z' })],
  'tables of another format': [
    /formats that this version does not read/,
    (rig) => rig.replace({ version: later(), tables: 99 }),
  ],
  'a file beyond all bounds': [
    /tables is too large/,
    (rig) => rig.replace({ version: later(), files: [{ name: 'tables', bytes: 2 ** 40, sha256: 'ab'.repeat(32) }] }),
  ],
  'a name that leads out of the folder': [
    /it is not a manifest/,
    (rig) => rig.replace({ version: later(), files: [{ name: 'tables', bytes: 1, sha256: '../../../etc/passwd' }] }),
  ],
  'a file that is not there': [
    /half-written: tables is not there/,
    (rig) => rig.replace({ version: later(), files: [{ name: 'tables', bytes: 100, sha256: 'cd'.repeat(32) }] }),
  ],
  'a file with other content': [
    /tables is not the file that was signed/,
    async (rig) => {
      const { manifest } = await rig.publish(OTHER)
      const { sha256 = '', bytes = 0 } = manifest.files.find(({ name }) => name === 'tables') ?? {}
      rig.serve(sha256, Buffer.alloc(bytes))
    },
  ],
}

function changed(rig: BundleRig): Buffer {
  const text = readFileSync(join(rig.folder, 'manifest.json'), 'latin1')
  return Buffer.from(text.replace('"version":1', '"version":2'))
}

function later(): number {
  return Date.now() + 60_000
}

/** Serves bytes that are signed with the right key, whatever they are. */
async function signAs(rig: BundleRig, bytes: Buffer): Promise<void> {
  const { digest, signature } = await rig.sign(bytes)
  rig.serve('manifest.json', bytes)
  rig.serve(`${digest}.sig`, Buffer.from(signature.toString('base64')))
}

for (const [what, [reason, harm]] of Object.entries(HARMS)) {
  t.test(`${what} changes nothing, and is said`, async (t) => {
    const rig = await openBundleRig(t)
    const { digest } = await rig.publish(ONE)
    const reader = rig.reader('reader')
    await reader.pull()
    await harm(rig)
    t.match((await reader.pull()).pulled, { state: 'refused', reason })
    t.equal(reader.held()?.digest, digest)
    t.ok(reader.isWhole())
    t.match(reader.state(), { error: reason, refused: true, failures: 1 })
  })
}

t.test('a publisher that breaks off is asked again, and what came whole is not fetched twice', async (t) => {
  const rig = await openBundleRig(t)
  const { manifest } = await rig.publish(ONE)
  const tables = manifest.files.find(({ name }) => name === 'tables')?.sha256 ?? ''
  const places = manifest.files.find(({ name }) => name.startsWith('city-'))?.sha256 ?? ''
  const reader = rig.reader('reader')
  rig.serve(places, (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000 })
    response.write('half', () => response.destroy())
  })
  t.match((await reader.pull()).pulled, { state: 'failed' })
  t.equal(reader.held(), undefined)
  rig.serve(places, undefined)
  t.match((await reader.pull()).pulled, { state: 'updated' })
  t.equal(rig.asked.filter((name) => name === tables).length, 1)
})

t.test('it is asked twice a minute, by one of the processes of a dataDir, and less often while it fails', async (t) => {
  const rig = await openBundleRig(t)
  await rig.publish(ONE)
  const [reader, other] = [rig.reader('reader'), rig.reader('reader')]
  const due = async () =>
    [await reader.pullIfDue(0.5), await other.pullIfDue(0.5)].map((outcome) => outcome?.pulled.state)
  t.same(await due(), ['updated', undefined])
  t.same(await due(), [undefined, undefined])
  rig.tick(31_000)
  t.same(await due(), ['unchanged', undefined])
  rig.serve('manifest.json', (_request, response) => response.writeHead(503).end())
  rig.tick(31_000)
  t.same(await due(), ['failed', undefined])
  rig.tick(31_000)
  t.same(await due(), ['failed', undefined])
  rig.tick(31_000)
  t.same(await due(), [undefined, undefined], 'after two failures it waits for a minute')
  rig.tick(31_000)
  t.same(await due(), ['failed', undefined])
})
