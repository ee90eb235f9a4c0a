import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openPostgres } from '../postgres/pool.ts'
import {
  type Cleanup,
  findProgram,
  freePort,
  NO_NEIGHBOURS,
  type ServerUser,
  serverFolder,
  startServer,
  type TestServer,
} from './server.ts'

const PROGRAM = findProgram(['initdb', ...debianPrograms()])
const USER = serverUser()

/** Why there is no PostgreSQL to test with, for tap's `skip`; false where there is one. */
export const NO_POSTGRES: string | false =
  NO_NEIGHBOURS ||
  (PROGRAM === undefined && 'PostgreSQL is not installed') ||
  (USER === undefined && process.getuid?.() === 0 && 'PostgreSQL does not run as root, and there is no user "postgres"')

export interface TestPostgres extends TestServer {
  /** Makes a new, empty database and returns its URL. */
  database(): Promise<string>
}

/** Starts a private PostgreSQL. It syncs to the disk only if `durable`: only a machine without power loses data by that. */
export async function startPostgres(t: Cleanup, { durable = false } = {}): Promise<TestPostgres> {
  if (PROGRAM === undefined) throw new Error(String(NO_POSTGRES))
  const port = await freePort()
  const folder = await serverFolder(t, USER)
  const cluster = join(folder, 'cluster')
  const options = '-U sallyport -A trust -E UTF8 --locale=C --no-sync --wal-segsize=1'
  await promisify(execFile)(PROGRAM, ['-D', cluster, ...options.split(' ')], { ...USER, cwd: folder })
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `fsync=${durable ? 'on' : 'off'}`]
  const databaseUrl = (database: string) => `postgres://sallyport@127.0.0.1:${port}/${database}`
  const server = await startServer(t, port, {
    file: join(dirname(PROGRAM), 'postgres'),
    args: ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    user: USER,
    // Fast shutdown: it does not wait for open connections.
    stopSignal: 'SIGINT',
    ready: () =>
      run(databaseUrl('postgres'), 'SELECT 1').then(
        () => true,
        () => false,
      ),
  })
  let databases = 0
  return {
    ...server,
    async database() {
      const name = `test_${databases++}`
      await run(databaseUrl('postgres'), `CREATE DATABASE ${name}`)
      return databaseUrl(name)
    },
  }
}

async function run(url: string, sql: string): Promise<void> {
  const postgres = await openPostgres(url, { connectMs: 5_000, statementMs: 30_000, maxConnections: 1 })
  try {
    await postgres.query(sql)
  } finally {
    await postgres.close()
  }
}

/** Debian keeps the server's programs out of PATH, by version. */
function debianPrograms(): readonly string[] {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((x, y) => Number(y) - Number(x)) : []
  return versions.map((version) => join(root, version, 'bin/initdb'))
}

/** PostgreSQL refuses to run as root. */
function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const row = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return row === null ? undefined : { uid: Number(row[1]), gid: Number(row[2]) }
}
