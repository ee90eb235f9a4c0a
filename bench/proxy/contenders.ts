import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import { isInstalled, type Program, startProgram } from './program.ts'
import { startSallyport } from './sallyport.ts'
import { startHaproxy, startNginxProxy } from './servers.ts'

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
  /** Says why the contender cannot run here; absent: it can. */
  readonly missing?: string | undefined
  start(place: Place): Promise<Program>
}

export const BASELINE = 'nginx'
export const OURS = 'Sallyport, everything on'

/** The baseline comes first. */
export const CONTENDERS: readonly Contender[] = [
  {
    name: BASELINE,
    start: ({ folder, upstream, processor }) => startNginxProxy(folder, upstream, processor),
  },
  {
    name: 'HAProxy',
    missing: isInstalled('haproxy') ? undefined : 'haproxy is not installed',
    start: ({ folder, upstream, processor }) => startHaproxy(folder, upstream, processor),
  },
  {
    name: OURS,
    start: (place) => startSallyport({ ...place, folder: join(place.folder, 'sallyport'), trustProxy: ['loopback'] }),
  },
  {
    name: 'http-proxy 1.18, keep-alive',
    async start({ upstream, processor }) {
      const port = await freePort()
      const args = ['--no-deprecation', join(import.meta.dirname, 'node-proxy.js'), upstream, String(port)]
      return startProgram({ command: process.execPath, args, port, processor })
    },
  },
]
