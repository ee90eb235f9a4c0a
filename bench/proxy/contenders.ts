import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import { type Program, startProgram } from './program.ts'
import { startSallyport } from './sallyport.ts'
import { startNginxProxy } from './servers.ts'

/** Tells a contender where it finds its files, its upstream and its processor. */
export interface Place {
  /** Contenders write their configuration into this folder. */
  readonly folder: string
  readonly dataDir: string
  readonly upstream: string
  readonly processor: number
}

export interface Contender {
  readonly name: string
  start(place: Place): Promise<Program>
}

export const BASELINE = 'nginx'
export const OURS = 'Sallyport, everything on'
export const PEER = 'http-proxy 1.18, keep-alive'
export const BARE = '`undici` alone'

/** The baseline comes first. */
export const CONTENDERS: readonly Contender[] = [
  {
    name: BASELINE,
    start: ({ folder, upstream, processor }) => startNginxProxy(folder, upstream, processor),
  },
  {
    name: OURS,
    start: (place) => startSallyport({ ...place, folder: join(place.folder, 'sallyport'), trustProxy: ['loopback'] }),
  },
  {
    name: PEER,
    start: ({ upstream, processor }) => startNode('node-proxy', processor, upstream),
  },
  {
    name: BARE,
    start: ({ upstream, processor }) => startNode('bare-proxy', processor, upstream),
  },
]

/** Starts a proxy of this folder in front of the upstream; a certificate's files let the bare one serve HTTP/2. */
export async function startNode(
  name: 'node-proxy' | 'bare-proxy',
  processor: number,
  upstream: string,
  ...certificate: readonly string[]
): Promise<Program> {
  const port = await freePort()
  const file = join(import.meta.dirname, `${name}.js`)
  const args = ['--no-deprecation', file, upstream, String(port), ...certificate]
  return startProgram({ command: process.execPath, args, port, processor })
}
