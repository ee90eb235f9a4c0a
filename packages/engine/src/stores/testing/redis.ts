import {
  ask,
  type Cleanup,
  findProgram,
  freePort,
  NO_NEIGHBOURS,
  serverFolder,
  startServer,
  type TestServer,
} from './server.ts'

const PROGRAM = findProgram(['redis-server', 'valkey-server'])

/** Why there is no Redis to test with, for tap's `skip`; false where there is one. */
export const NO_REDIS: string | false = NO_NEIGHBOURS || (PROGRAM === undefined && 'redis-server is not installed')

export interface TestRedis extends TestServer {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string
}

/** Starts a private Redis that keeps nothing on the disk. */
export async function startRedis(t: Cleanup): Promise<TestRedis> {
  if (PROGRAM === undefined) throw new Error(String(NO_REDIS))
  const port = await freePort()
  const dir = await serverFolder(t)
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no']
  const server = await startServer(t, port, {
    file: PROGRAM,
    args,
    stopSignal: 'SIGTERM',
    ready: async () => (await ask(port, 'PING\r\n'))?.startsWith('+PONG') === true,
  })
  return { ...server, url: `redis://127.0.0.1:${port}` }
}
