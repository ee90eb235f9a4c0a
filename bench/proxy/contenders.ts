import { join } from 'node:path'
import { textFlag } from '../flags.ts'
import { MISSING_LOOKUPS } from './nginx-lookups.ts'
import { freePort, isInstalled, type Program, startProgram } from './program.ts'
import { compileData, startSallyport } from './sallyport.ts'
import { startHaproxy, startNginxLookups, startNginxProxy } from './servers.ts'

/** Address of a contender. */
export interface Place {
  /** For its configuration. */
  readonly folder: string
  readonly dataDir: string
  readonly upstream: string
  readonly processor: number
}

export interface Contender {
  readonly name: string
  /** Why it cannot run here; absent: it can. */
  readonly missing?: string | undefined
  start(place: Place): Promise<Program>
}

export const BASELINE = 'nginx'
export const OURS = 'Sallyport, everything on'

const TITLES: Readonly<Record<string, string>> = {
  undici: 'a bare undici dispatch',
  'http-proxy': 'http-proxy 1.18, keep-alive',
  'reply-from': '@fastify/reply-from',
}

/** The baseline first. */
export const CONTENDERS: readonly Contender[] = [
  {
    name: BASELINE,
    ...missingCommand('nginx'),
    start: ({ folder, upstream, processor }) => startNginxProxy(folder, upstream, processor),
  },
  {
    name: 'nginx with lookups',
    missing: MISSING_LOOKUPS,
    start: ({ folder, upstream, processor }) => startNginxLookups(folder, upstream, processor),
  },
  {
    name: 'HAProxy',
    ...missingCommand('haproxy'),
    start: ({ folder, upstream, processor }) => startHaproxy(folder, upstream, processor),
  },
  {
    name: OURS,
    start: (place) => startSallyport({ ...place, folder: join(place.folder, 'sallyport'), trustProxy: ['loopback'] }),
  },
  ...earlierRelease(textFlag('beside')),
  nodeProxy('undici'),
  nodeProxy('http-proxy'),
  nodeProxy('http-proxy-3', 'optional'),
  nodeProxy('reply-from'),
  nodeProxy('fast-proxy'),
]

/** The release whose command `--beside=…/bin/sallyport.mjs` names, with data of its own. */
function earlierRelease(release: string | undefined): readonly Contender[] {
  if (release === undefined) return []
  const start = async (place: Place): Promise<Program> => {
    const folder = join(place.folder, 'earlier')
    const dataDir = join(folder, 'data')
    await compileData(dataDir, { release })
    return startSallyport({ ...place, folder, dataDir, trustProxy: ['loopback'], release })
  }
  return [{ name: 'Sallyport, the release before', start }]
}

function nodeProxy(name: string, installed?: 'optional'): Contender {
  return {
    name: TITLES[name] ?? name,
    ...(installed === 'optional' ? missingPackage(name) : {}),
    async start({ upstream, processor }) {
      const port = await freePort()
      const program = join(import.meta.dirname, 'node-proxy.js')
      const args = ['--no-deprecation', program, name, upstream, String(port)]
      return startProgram({ command: process.execPath, args, port, processor })
    },
  }
}

function missingCommand(command: string): { missing?: string | undefined } {
  return isInstalled(command) ? {} : { missing: `${command} is not installed` }
}

function missingPackage(name: string): { missing?: string | undefined } {
  try {
    import.meta.resolve(name)
    return {}
  } catch {
    return { missing: `${name} is not installed: it needs Node 22` }
  }
}
