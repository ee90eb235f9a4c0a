import { execFileSync, type ForkOptions, fork, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readHead } from '@sallyport/ledger'
import t, { type Test } from 'tap'
import { findFault, listMissing, openLedgerIn } from './ledger-place.ts'
import { ended, temporaryFolder } from './processes.ts'

/** Is true in `npm run fault`. */
const IS_FULL = process.env['TEST_LENGTH'] === 'full'
const KILLS = IS_FULL ? 100 : 1

/** Starts a process that attests; `ids` are those it was given so far. */
function startAttesting(t: Test, folder: string, rest: readonly string[] = [], options: ForkOptions = {}) {
  const child = fork(join(import.meta.dirname, 'ledger-child.js'), [folder, ...rest], options)
  t.teardown(() => child.kill('SIGKILL'))
  const ids: number[] = []
  child.on('message', (id) => ids.push(Number(id)))
  return { child, ids }
}

t.test(`${KILLS} times kill -9 under load: every id given out has its record, and the chain is whole`, async (t) => {
  const folder = await temporaryFolder(t)
  const given: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, ids } = startAttesting(t, folder)
    const enough = 50 + ((kill * 37) % 200)
    while (ids.length < enough && child.exitCode === null)
      await new Promise((resolve) => child.once('message', resolve))
    child.kill('SIGKILL')
    await ended(child)
    given.push(...ids)
  }
  t.ok(given.length >= 50 * KILLS, `${given.length} ids were given out`)
  t.equal(new Set(given).size, given.length, 'none twice')
  const { store } = await openLedgerIn(t, folder)
  t.same(await listMissing(store, given), [])
  t.equal(await findFault(store, folder), undefined)
})

t.test('four processes append to one ledger of one folder', async (t) => {
  const folder = await temporaryFolder(t)
  const started = Array.from({ length: 4 }, () => startAttesting(t, folder, ['250']))
  await Promise.all(started.map(({ child }) => ended(child)))
  for (const { child } of started) t.equal(child.exitCode, 0)
  const given = started.flatMap(({ ids }) => ids)
  t.equal(new Set(given).size, 1000, 'every id once')
  const { store } = await openLedgerIn(t, folder)
  t.equal((await readHead(store, 't/a'))?.size, 1000)
  t.same(await listMissing(store, given), [])
  t.equal(await findFault(store, folder), undefined, 'one chain, no fork')
})

const DISK = mkdtempSync(join(tmpdir(), 'sallyport-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', DISK])
const NO_DISK = mounted.status !== 0 && 'this user may not mount a small disk'
t.teardown(() => {
  spawnSync('umount', ['-l', DISK])
  rmSync(DISK, { recursive: true })
})

t.test('a full disk is unavailable, and appends again when there is room', { skip: NO_DISK }, async (t) => {
  const ballast = join(DISK, 'ballast')
  writeFileSync(ballast, Buffer.alloc(3 << 20))
  const { store, attest } = await openLedgerIn(t, DISK)
  const given: number[] = []
  let refused: unknown
  for (let calls = 0; refused === undefined && calls < 20_000; calls++) {
    const id = await attest().catch((error: unknown) => {
      refused = error
    })
    if (id !== undefined) given.push(id)
  }
  t.match(refused, { name: 'LedgerUnavailable', cause: /full/ })
  t.ok(given.length > 10, `${given.length} ids before the disk was full`)
  await t.rejects(attest(), { name: 'LedgerUnavailable' }, 'still full')
  t.equal((await readHead(store, 't/a'))?.size, given.length, 'what there is can be read')
  t.equal((await store.records('t/a', 0, 20_000)).length, given.length)
  rmSync(ballast)
  given.push(await attest(), await attest())
  t.same(await listMissing(store, given), [])
  t.equal(await findFault(store, DISK), undefined)
})

const NO_FIU = spawnSync('fiu-run').error !== undefined && 'libfiu is not installed (fiu-utils)'
const FAILING = ['posix/io/sync/fsync', 'posix/io/sync/fdatasync', 'posix/io/rw/pwrite', 'posix/io/rw/pwrite64']

t.test('a disk fails 2 % of its syncs and writes: each id has its record', { skip: NO_FIU }, async (t) => {
  const folder = await temporaryFolder(t)
  const control = join(folder, 'fiu')
  const under = { execPath: 'fiu-run', execArgv: ['-x', '-f', control, process.execPath] }
  const { child, ids } = startAttesting(t, folder, [], under)
  await new Promise((resolve) => child.once('message', resolve))
  for (const name of FAILING) {
    const command = `enable_random name=${name},probability=0.02`
    execFileSync('fiu-ctrl', ['-f', control, '-c', command, String(child.pid)])
  }
  const refusals = IS_FULL ? 500 : 30
  while (ids.filter((id) => id === 0).length < refusals && child.exitCode === null)
    await new Promise((resolve) => child.once('message', resolve))
  t.equal(child.exitCode, null, 'the process goes on')
  child.kill('SIGKILL')
  await ended(child)
  const given = ids.filter((id) => id > 0)
  t.ok(given.length > 0, `${given.length} ids are given out beside ${refusals} refusals`)
  t.equal(new Set(given).size, given.length, 'none twice')
  const { store } = await openLedgerIn(t, folder)
  t.same(await listMissing(store, given), [])
  t.equal(await findFault(store, folder), undefined)
})

t.test('the thread that waits for the disk is not that of the requests', async (t) => {
  const folder = await temporaryFolder(t)
  const { attest } = await openLedgerIn(t, folder)
  let turns = 0
  const ticking = setImmediate(function tick() {
    turns++
    next = setImmediate(tick)
  })
  let next = ticking
  for (let count = 0; count < 20; count++) await attest()
  clearImmediate(next)
  t.ok(turns > 100, `the event loop turned ${turns} times during 20 commits`)
})

t.test('after close everything rejects, and nothing hangs', async (t) => {
  const { store, attest } = await openLedgerIn(t, await temporaryFolder(t))
  const inFlight = attest()
  await store.close()
  await Promise.allSettled([inFlight])
  await t.rejects(attest(), { name: 'LedgerUnavailable' })
  await t.rejects(readHead(store, 't/a'), /closed/)
  await store.close()
})
