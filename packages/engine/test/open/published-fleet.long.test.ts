import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { made, openBundleRig } from './bundle-rig.ts'

const PROCESSES = 10

interface Said {
  readonly what: 'open' | 'swapped' | 'refused' | 'over'
  readonly verdict?: string | undefined
  readonly compiled?: number | undefined
  readonly hasParsed?: boolean | undefined
}

function startReader(t: Test, config: unknown): ChildProcess {
  const child = fork(join(import.meta.dirname, 'published-reader.js'), [JSON.stringify(config)])
  t.teardown(() => stop(child))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** The first time from now on that a process says this. */
function says(child: ChildProcess, what: Said['what']): Promise<Said> {
  return new Promise((resolve) => {
    child.on('message', (said: Said) => {
      if (said.what === what) resolve(said)
    })
  })
}

t.test('ten processes swap within a minute of a publish, and what is badly signed changes none of them', async (t) => {
  const rig = await openBundleRig(t)
  await rig.publish('8.2.7.0/24\n')
  const readers: ChildProcess[] = []
  // Two machines have two workers each.
  for (const name of ['a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    const child = startReader(t, rig.config(name))
    readers.push(child)
    t.match(await says(child, 'open'), { verdict: 'hosting', compiled: 0, hasParsed: false })
  }
  t.equal(readers.length, PROCESSES)

  const refused = readers.map((child) => says(child, 'refused'))
  const over = Promise.race(readers.map((child) => says(child, 'over')))
  const swapped = Promise.all(readers.map((child) => says(child, 'swapped')))
  await rig.publish('8.2.9.0/24\n', made())
  t.match(await Promise.race(refused), { text: /its signature is not of data\.fromKey/ }, 'its operator is notified')

  rig.asked.length = 0
  const { manifest } = await rig.publish('8.2.8.0/24\n')
  const started = performance.now()
  const said = await swapped
  t.match(await over, { text: /is used again\.$/ }, 'and that it is over')
  const seconds = (performance.now() - started) / 1_000
  t.ok(seconds < 60, `all have swapped ${seconds.toFixed(1)} s after the publish`)
  t.same(
    said.map(({ verdict, compiled, hasParsed }) => [verdict, compiled, hasParsed]),
    Array(PROCESSES).fill(['vpn', 0, false]),
    'to what was published, and nobody compiled it; nobody had swapped to what was refused',
  )
  const tables = manifest.files.find(({ name }) => name === 'tables')?.sha256
  t.equal(rig.asked.filter((name) => name === tables).length, 8, 'once for each machine')
  // Folders of the test are removed before its teardowns.
  await Promise.all(readers.map(stop))
})
