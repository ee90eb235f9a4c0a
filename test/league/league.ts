import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRESET_NAMES, type PresetName } from '@sallyport/core'
import { certificate } from '../certificate.ts'
import { install, isUnreachable } from '../packaging/npm.ts'
import { makeFolder } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { WAYS, type Way } from './copied.ts'
import type { Driver, Place } from './drive.ts'
import { type Gate, NETWORKS, type Network, openGate, type Visit } from './gate.ts'
import type { Tool } from './tools.ts'

export const PRESETS = PRESET_NAMES.filter((preset) => preset !== 'observe')

export interface LeagueOptions {
  readonly tools: readonly Tool[]
  readonly ways: readonly Way[]
  readonly presets: readonly PresetName[]
  readonly networks: readonly Network[]
  /** So many tools are at work at one time. */
  readonly lanes: number
  /** Pages that each tool requests of each gate; a browser, which takes a hundred times as long for one, requests a twentieth of them. */
  readonly pages: number
  readonly onProgress: (line: string) => void
}

/** One visit of one tool to one gate; absent `visit`: the tool could not be run so, and `fault` says why. */
export interface Row {
  readonly tool: Tool
  readonly version: string
  readonly way: Way
  readonly preset: PresetName
  readonly network: Network
  /** Counts the pages that the tool requested. */
  readonly pages: number
  readonly visit?: Visit | undefined
  readonly fault?: string | undefined
}

export interface League {
  readonly rows: readonly Row[]
  readonly absent: readonly Tool[]
}

/** Sends the requests of all tools to all gates, over real sockets of loopback. Each lane has gates of its own. */
export async function runLeague(options: LeagueOptions): Promise<League> {
  const folder = makeFolder()
  const { cert: ca, key } = certificate(folder)
  const place = { folder, ca, project: await installNpm(folder, options.tools) }
  const open = (preset: PresetName): Promise<Gate> => {
    // Each gate watches its files; Node warns of many watchers of one.
    const own = mkdtempSync(join(folder, 'gate-'))
    const files = { cert: join(own, 'site.pem'), key: join(own, 'site.key') }
    copyFileSync(ca, files.cert)
    copyFileSync(key, files.key)
    return openGate(preset, join(folder, 'state'), files)
  }
  // The first gate compiles the data, the others find it.
  await (await open('observe')).close()
  const played: (readonly Row[] | undefined)[] = []
  const waiting = options.tools.entries()
  const lanes = Array.from({ length: options.lanes }, async () => {
    const gates: Gate[] = []
    for (const preset of options.presets) gates.push(await open(preset))
    for (const [at, tool] of waiting) played[at] = await play(tool, place, gates, options)
    for (const gate of gates) await gate.close()
  })
  await Promise.all(lanes)
  const absent = options.tools.filter((_, at) => played[at] === undefined)
  return { rows: played.flatMap((rows) => rows ?? []), absent }
}

/** Sends the requests of one tool; resolves with nothing where it is not installed. */
async function play(
  tool: Tool,
  place: Place,
  gates: readonly Gate[],
  { ways, presets, networks, onProgress, ...options }: LeagueOptions,
): Promise<readonly Row[] | undefined> {
  const began = Date.now()
  const version = await tool.version(place)
  if (version === undefined) {
    onProgress(`${tool.name}: not installed`)
    return undefined
  }
  const pages = tool.kind === 'browser' ? Math.ceil(options.pages / 20) : options.pages
  const driver = await tool.drive(place)
  const rows: Row[] = []
  for (const way of ways.filter((one) => canCopy(tool, one))) {
    for (const [index, preset] of presets.entries()) {
      for (const network of networks) {
        const visited = await visit(gates[index] as Gate, network, driver, { way, ca: place.ca, pages })
        rows.push({ tool, version, way, preset, network, pages, ...visited })
      }
    }
  }
  await driver.close()
  const faults = new Set(rows.flatMap(({ fault }) => fault ?? []))
  onProgress(`${tool.name}: ${version}, ${Math.round((Date.now() - began) / 1000)} s ${[...faults].join('; ')}`)
  return rows
}

/** Reports whether a tool can send the headers of a way. A browser has its own, so parts of them are no way of copying one. */
function canCopy({ kind, agentOnly }: Tool, way: Way): boolean {
  if (kind !== 'browser' || way === 'own' || way === 'user-agent') return true
  return way === 'all' && agentOnly === undefined
}

async function visit(
  gate: Gate,
  network: Network,
  driver: Driver,
  { way, ca, pages }: { readonly way: Way; readonly ca: string; readonly pages: number },
): Promise<Pick<Row, 'visit' | 'fault'>> {
  let fault: string | undefined
  const visit = await gate.visit(network, async (base) => {
    await driver.run({ base, count: pages, headers: WAYS[way], ca }).catch((error) => (fault = String(error)))
  })
  if (visit.asked.length === 0) return { fault: fault ?? 'no request arrived' }
  return visit.ended ? { visit } : { visit, fault }
}

/** Installs the packages of npm that the tools are in, with the programs that use them, into a folder of their own. */
async function installNpm(folder: string, tools: readonly Tool[]): Promise<string> {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  for (const name of ['node.mjs', 'browsers.mjs'])
    copyFileSync(join(ROOT, 'test/league/drivers', name), join(project, name))
  const names = [...new Set(tools.flatMap(({ npm }) => npm ?? []))]
  if (names.length === 0) return project
  const { code, output } = await install(project, names)
  if (code !== 0 && !isUnreachable(output)) throw new Error(output)
  return project
}

export const NETWORK_NAMES = Object.keys(NETWORKS) as readonly Network[]
