import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PresetName } from '@sallyport/core'
import { certificate } from '../certificate.ts'
import { install, isUnreachable } from '../packaging/npm.ts'
import { ROOT } from '../workspaces.ts'
import { WAYS, type Way } from './copied.ts'
import type { Driver, Place } from './drive.ts'
import { type Gate, type Network, NETWORKS, openGate, type Visit } from './gate.ts'
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
  /** Pages that each tool requests of each gate. */
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
  readonly visit?: Visit | undefined
  readonly fault?: string | undefined
}

export interface League {
  readonly rows: readonly Row[]
  readonly absent: readonly Tool[]
}

/** Sends the requests of all tools to all gates, one after another, over real sockets of loopback. */
export async function runLeague(options: LeagueOptions): Promise<League> {
  const { tools, presets, onProgress } = options
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-league-'))
  const gates: Gate[] = []
  try {
    const files = certificate(folder)
    const place = { folder, ca: files.cert, project: await installNpm(folder, tools) }
    for (const preset of presets) {
      gates.push(await openGate({ preset, dataDir: join(folder, 'state'), certificate: files }))
    }
    const [rows, absent]: [Row[], Tool[]] = [[], []]
    for (const tool of tools) {
      const version = await tool.version(place)
      if (version === undefined) {
        absent.push(tool)
        onProgress(`${tool.name}: not installed`)
        continue
      }
      const began = Date.now()
      const own = await rowsOf(tool, version, place, gates, options)
      rows.push(...own)
      const faults = new Set(own.flatMap(({ fault }) => fault ?? []))
      onProgress(`${tool.name} ${version}: ${Math.round((Date.now() - began) / 1000)} s ${[...faults].join('; ')}`)
    }
    return { rows, absent }
  } finally {
    for (const gate of gates) await gate.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rowsOf(
  tool: Tool,
  version: string,
  place: Place,
  gates: readonly Gate[],
  { ways, presets, networks, pages }: LeagueOptions,
): Promise<readonly Row[]> {
  const driver = await tool.drive(place)
  const rows: Row[] = []
  for (const way of ways.filter((one) => tool.agentOnly === undefined || one === 'own' || one === 'user-agent')) {
    for (const [index, preset] of presets.entries()) {
      for (const network of networks) {
        const row = { tool, version, way, preset, network }
        const gate = gates[index]
        if (gate !== undefined) rows.push({ ...row, ...(await visit(gate, network, driver, way, place, pages)) })
      }
    }
  }
  await driver.close()
  return rows
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
  return visit.asked.length === 0 ? { fault: fault ?? 'no request arrived' } : { visit, fault }
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
