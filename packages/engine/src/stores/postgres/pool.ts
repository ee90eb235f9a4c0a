import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { CustomTypesConfig, QueryConfig } from 'pg'
import { loadInstalled } from '../load-installed.ts'

export type PostgresValue = null | number | string | boolean | Buffer | readonly (number | string)[]

/** A row as the driver gives it: int8 as a number, timestamps as Date, bytea as Buffer. */
export type PostgresRow = Readonly<Record<string, unknown>>

/**
 * Runs one statement with `$1` … parameters and returns its rows; `changes` counts what it inserted, updated or deleted. A statement with a
 * `name`, which belongs to this text alone, is parsed and planned once a connection.
 */
export type PostgresQuery = (
  sql: string,
  values?: readonly PostgresValue[],
  name?: string,
) => Promise<{ readonly rows: readonly PostgresRow[]; readonly changes: number }>

/**
 * Connections to one PostgreSQL database. Whatever happens to the server, every operation settles within
 * `connectMs + statementMs`, and the next one tries again: a connection that failed is thrown away.
 */
export interface Postgres {
  readonly query: PostgresQuery
  /** Runs `work` in one transaction on one connection; what it throws rolls back. `statementMs` for its statements. */
  transaction<T>(work: (query: PostgresQuery) => Promise<T>, statementMs?: number): Promise<T>
  /** Gives every connection back, within a second. */
  close(): Promise<void>
}

export interface PostgresOptions {
  /** An operation may wait so long for a connection, free or new. */
  readonly connectMs?: number | undefined
  /** Longest that one statement takes, counted here and by the server. */
  readonly statementMs?: number | undefined
  readonly maxConnections?: number | undefined
}

/** Both together stay under the second in which a route that needs the store must have answered. */
const CONNECT_MS = 400
const STATEMENT_MS = 400

const MAX_CONNECTIONS = 10
const KEEP_ALIVE_MS = 10_000
const CLOSE_MS = 1_000

/** Makes the pool; nothing is connected yet. `url` is `postgres://user:password@host:port/database`. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Postgres> {
  const { Pool, types } = (await loadInstalled('pg', () => import('pg'))).default
  const { connectMs = CONNECT_MS, statementMs = STATEMENT_MS, maxConnections = MAX_CONNECTIONS } = options
  const sockets = new Set<Socket>()
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    query_timeout: statementMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'sallyport',
    types: exactTypes(types),
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
  })
  // An idle connection that ends has no caller to reject: the next operation finds the outage and reports it.
  pool.on('error', () => {})
  let closed: Promise<void> | undefined

  /** The driver waits for an end of the connection that a stopped server never sends. */
  async function close(): Promise<void> {
    await Promise.race([pool.end(), delay(CLOSE_MS, undefined, { ref: false })])
    for (const socket of sockets) socket.destroy()
  }

  return {
    query: async (sql, values = [], name) => readAnswer(await pool.query(makeConfig(sql, values, name))),
    async transaction(work, ownStatementMs = statementMs) {
      const client = await pool.connect()
      // A socket that breaks between two statements fails the second; without a listener it ends the process.
      const ignore = (): void => {}
      client.on('error', ignore)
      const query: PostgresQuery = async (sql, values = [], name) => {
        const timed = { ...makeConfig(sql, values, name), query_timeout: ownStatementMs }
        return readAnswer(await client.query(timed))
      }
      let failure: unknown
      try {
        await query('BEGIN')
        if (ownStatementMs !== statementMs) await query(`SET LOCAL statement_timeout = ${ownStatementMs}`)
        const result = await work(query)
        await query('COMMIT')
        return result
      } catch (error) {
        failure = error
        throw error
      } finally {
        client.off('error', ignore)
        // Ending the connection rolls back, whatever state it is in.
        client.release(failure !== undefined)
      }
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** Reports whether the error says that no server answered, and not that the server refused the statement. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  // 57P01 to 57P03: shutting down, crashed, starting up; 53300: no connection is free.
  if (/^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|08|57P0|53300)/.test(code)) return true
  return code === '' && /timeout|terminated|not queryable/i.test(error.message)
}

/** Writes the parameters `?1` … of a statement as PostgreSQL does. */
export function writeParameters(sql: string): string {
  return sql.replaceAll('?', '$')
}

function makeConfig(text: string, values: readonly PostgresValue[], name: string | undefined): QueryConfig {
  return { text, values: [...values], ...(name === undefined ? {} : { name }) }
}

function readAnswer(result: { readonly rows: readonly PostgresRow[]; readonly rowCount: number | null }) {
  return { rows: result.rows, changes: result.rowCount ?? 0 }
}

/** The driver gives int8 as text; a count beyond what a number carries exactly is an error and not a wrong count. */
function exactTypes(types: CustomTypesConfig): CustomTypesConfig {
  const INT8 = 20
  const getTypeParser: CustomTypesConfig['getTypeParser'] = (id: number, format?: 'text' | 'binary') =>
    id === INT8 && format !== 'binary' ? exactInteger : types.getTypeParser(id, format as 'text')
  return { getTypeParser }
}

function exactInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`Not an exact number: ${text}`)
  return value
}
