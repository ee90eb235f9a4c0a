import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PresetName } from '@sallyport/core'
import { certificate } from '../certificate.ts'
import { install, isUnreachable } from '../packaging/npm.ts'
import { ROOT } from '../workspaces.ts'
import { WAYS, type Way } from './copied.ts'
import type { Driver, Place } from './drive.ts'
import { type Gate, NETWORKS, type Network, openGate, type Visit } from './gate.ts'
import type { Tool } from './tools.ts'

export const PRESETS = [
  'low-friction',
  'protect-content',
  'agents-welcome',
  'jurisdiction-strict',
  'stop-scrapers',
  'under-attack',
] as const satisfies readonly PresetName[]

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
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-league-'))
  try {
    const certificates = certificate(folder)
    const place = { folder, ca: certificates.cert, project: await installNpm(folder, options.tools) }
    const open: OpenGate = (preset) => {
      // Each gate watches its files; Node warns of many watchers of one.
      const own = mkdtempSync(join(folder, 'gate-'))
      const [cert, key] = [join(own, 'site.pem'), join(own, 'site.key')]
      copyFileSync(certificates.cert, cert)
      copyFileSync(certificates.key, key)
      return openGate({ preset, dataDir: join(folder, 'state'), certificate: { cert, key } })
    }
    // The first gate compiles the data, the others find it.
    await (await open('observe')).close()
    const left = options.tools.map((tool, place) => ({ tool, place }))
    const done: Played[] = []
    await Promise.all(Array.from({ length: options.lanes }, () => runLane(left, done, place, open, options)))
    const ordered = done.toSorted((one, other) => one.place - other.place)
    return {
      rows: ordered.flatMap(({ rows }) => rows ?? []),
      absent: ordered.flatMap(({ tool, rows }) => (rows === undefined ? [tool] : [])),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type OpenGate = (preset: PresetName) => Promise<Gate>

/** A tool by its place in the list, with its rows; absent: it is not installed. */
interface Played {
  readonly tool: Tool
  readonly place: number
  readonly rows?: readonly Row[] | undefined
}

/** Takes one tool after another until none is left. */
async function runLane(
  left: Pick<Played, 'tool' | 'place'>[],
  done: Played[],
  where: Place,
  open: OpenGate,
  options: LeagueOptions,
): Promise<void> {
  const { presets, onProgress } = options
  const gates: Gate[] = []
  try {
    for (const preset of presets) gates.push(await open(preset))
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { tool, place } = next
      const began = Date.now()
      const version = await tool.version(where)
      const rows = version === undefined ? undefined : await readRows(tool, version, where, gates, options)
      done.push({ tool, place, rows })
      const faults = new Set(rows?.flatMap(({ fault }) => fault ?? []))
      const seconds = Math.round((Date.now() - began) / 1000)
      onProgress(
        `${tool.name}: ${version === undefined ? 'not installed' : `${version}, ${seconds} s`} ${[...faults].join('; ')}`,
      )
    }
  } finally {
    for (const gate of gates) await gate.close()
  }
}

async function readRows(
  tool: Tool,
  version: string,
  place: Place,
  gates: readonly Gate[],
  { ways, presets, networks, ...options }: LeagueOptions,
): Promise<readonly Row[]> {
  const pages = tool.kind === 'browser' ? Math.ceil(options.pages / 20) : options.pages
  const driver = await tool.drive(place)
  const rows: Row[] = []
  for (const way of ways.filter((one) => canCopy(tool, one))) {
    for (const [index, preset] of presets.entries()) {
      for (const network of networks) {
        const row = { tool, version, way, preset, network, pages }
        const gate = gates[index]
        if (gate !== undefined) rows.push({ ...row, ...(await visit(gate, network, driver, way, place, pages)) })
      }
    }
  }
  await driver.close()
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
  way: Way,
  { ca }: Place,
  count: number,
): Promise<Pick<Row, 'visit' | 'fault'>> {
  let fault: string | undefined
  const visit = await gate.visit(network, async (base) => {
    try {
      await driver.run({ base, count, headers: WAYS[way], ca })
    } catch (error) {
      fault = String(error)
    }
  })
  if (visit.asked.length === 0) return { fault: fault ?? 'no request arrived' }
  return visit.ended ? { visit } : { visit, fault }
}

/** Installs the packages of npm that the tools are in, with the programs that use them, into a folder of their own. */
async function installNpm(folder: string, tools: readonly Tool[]): Promise<string> {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  for (const name of ['node.mjs', 'browsers.mjs']) {
    copyFileSync(join(ROOT, 'test/league/drivers', name), join(project, name))
  }
  const names = [...new Set(tools.flatMap(({ npm }) => npm ?? []))]
  if (names.length === 0) return project
  const { code, output } = await install(project, names)
  if (code !== 0 && !isUnreachable(output)) throw new Error(output)
  return project
}

export const NETWORK_NAMES = Object.keys(NETWORKS) as readonly Network[]
