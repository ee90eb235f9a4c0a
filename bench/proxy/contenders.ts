import { join, resolve } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import { textFlag } from '../flags.ts'
import { type Program, startProgram } from './program.ts'
import { compileData } from './sallyport.ts'
import { startNginxProxy } from './servers.ts'
import { PROXY, type Stand, startOnStand } from './stand.ts'

export interface Contender {
  readonly name: string
  start(stand: Stand): Promise<Program>
}

export const BASELINE = 'nginx'
export const OURS = 'Sallyport, everything on'
export const BEFORE = 'Sallyport, before'
export const PEER = 'http-proxy 1.18, keep-alive'
export const BARE = '`undici` alone'

/** Lists the proxies, the baseline first. `--before=FOLDER` adds the proxy of an earlier state, which is built in that folder. */
export function listContenders(): readonly Contender[] {
  const checkout = textFlag('before')
  return [
    { name: BASELINE, start: ({ folder, origin }) => startNginxProxy(folder, origin.url, PROXY) },
    { name: OURS, start: (stand) => startOnStand(stand, 'sallyport') },
    ...(checkout === undefined ? [] : [{ name: BEFORE, start: (stand: Stand) => startEarlier(stand, checkout) }]),
    { name: PEER, start: ({ origin }) => startNode('node-proxy', origin.url) },
    { name: BARE, start: ({ origin }) => startNode('bare-proxy', origin.url) },
  ]
}

/** Starts the proxy of a built checkout on data that its own command compiles, because formats may differ. */
async function startEarlier(stand: Stand, checkout: string): Promise<Program> {
  const command = resolve(checkout, 'packages/sallyport/bin/sallyport.mjs')
  const dataDir = join(stand.folder, 'data-before')
  await compileData(dataDir, command)
  return startOnStand(stand, 'before', { dataDir, command })
}

/** Starts a program of this folder with its first argument, its port and further arguments, and with options of Node. */
export async function startNode(
  name: 'node-proxy' | 'bare-proxy' | 'inspected',
  first: string,
  rest: readonly string[] = [],
  node: readonly string[] = [],
): Promise<Program> {
  const port = await freePort()
  const file = join(import.meta.dirname, `${name}.js`)
  const args = ['--no-deprecation', ...node, file, first, String(port), ...rest]
  return startProgram({ command: process.execPath, args, port, processor: PROXY })
}
