import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'
import type { Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { median } from '../report/statistics.ts'
import { startNode } from './contenders.ts'
import type { Program } from './program.ts'
import { sizePath } from './servers.ts'
import { shootInTurn, type Target } from './shot.ts'
import { type Stand, startOnStand } from './stand.ts'

/**
 * Divides the processor time of a request among the phases that it goes through: V8's profiler samples the stack, and each sample belongs to
 * the nearest phase in it. A phase includes what it calls, of Node and undici too.
 */
export async function benchPhases(run: Run, stand: Stand): Promise<void> {
  const { folder, dataDir, shoot } = stand
  const hosts: Readonly<Record<string, (node: readonly string[]) => Promise<Program>>> = {
    '`node:http`': (node) => startNode('inspected', dataDir, [], node),
    'the proxy': (node) => startOnStand(stand, 'sallyport', { node }),
  }
  const figures: Figure[] = []
  for (const [name, start] of Object.entries(hosts)) {
    const profiles = await mkdtemp(join(folder, 'profiles-'))
    const program = await start(['--cpu-prof', `--cpu-prof-dir=${profiles}`])
    const ask: Target['ask'] = (url, seconds) => shoot(url, sizePath('100 B'), seconds)
    const [taken = []] = await shootInTurn(run, [{ name, program, ask }])
    await program.stop()
    const whole = median(taken.map(({ cpu }) => cpu))
    for (const [phase, share] of divide(await readProfile(profiles))) {
      figures.push({ case: name, what: phase, unit: '', value: { median: share * whole } })
    }
    figures.push({ case: name, what: 'a request', unit: '', value: { median: whole } })
  }
  run.table({ title: 'A request by phases, µs', figures })
}

/** Reads the profile of the main thread, the longest: each worker thread writes one too. */
async function readProfile(folder: string): Promise<Profiler.Profile> {
  const names = await readdir(folder)
  const profiles = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Profiler.Profile),
  )
  return profiles.reduce((one, other) => (other.nodes.length > one.nodes.length ? other : one))
}

/** Names phases by the functions and files that begin them; the first match counts. */
const PHASES: readonly (readonly [phase: string, begins: RegExp])[] = [
  ['garbage', /^\(garbage collector\) /],
  ['receive', /\/node\/dist\/src\/receive\.js$/],
  ['precheck', /^precheck .*phases\.js$/],
  ['route', /^route .*phases\.js$/],
  ['inspect', /^inspect(?:WithSlot)? .*phases\.js$/],
  ['decide', /^decide .*phases\.js$/],
  ['answer', /^answer .*phases\.js$/],
  ['admit', /^admit .*phases\.js$/],
  ['forward', /^forward .*phases\.js$/],
  ['relay', /\/origin\/(?:relay|connection)\.js$/],
  ['observe', /^end .*observation\.js$/],
  ['records in batches', /^drain .*observers\.js$/],
]

/** Returns the share of each phase in the busy time of the second half of a profile, and of the rest. */
function divide({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const phases = new Map<number, string>()
  const [root] = nodes
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const waiting = [{ id: root?.id ?? 0, around: 'the rest' }]
  for (const { id, around } of waiting) {
    const { callFrame, children = [] } = byId.get(id) as Profiler.ProfileNode
    const text = `${callFrame.functionName} ${callFrame.url}`
    const phase = text === '(idle) ' ? '' : (PHASES.find(([, begins]) => begins.test(text))?.[0] ?? around)
    phases.set(id, phase)
    for (const child of children) waiting.push({ id: child, around: phase })
  }
  const shares = new Map([...PHASES.map(([phase]) => phase), 'the rest'].map((phase) => [phase, 0]))
  let busy = 0
  for (let at = samples.length >> 1; at < samples.length; at++) {
    const phase = phases.get(samples[at] as number) as string
    if (phase === '') continue
    busy += timeDeltas[at] as number
    shares.set(phase, (shares.get(phase) as number) + (timeDeltas[at] as number))
  }
  return new Map([...shares].map(([phase, time]) => [phase, time / busy]))
}
