import {
  type Clock,
  formatHostOrPrefix,
  NETWORK_CLASSES,
  type Observation,
  type ObservationStore,
  type PrefixObservation,
  parseHostOrPrefix,
} from '@sallyport/core'
import type { Closable } from '../closable.ts'
import type { Database, SqlRow } from '../sqlite/driver.ts'
import { followChanges } from '../sqlite/follow-changes.ts'
import { closeOnce, openDatabase, openReadOnly } from '../sqlite/open-database.ts'
import { createObservationIndex } from './observation-index.ts'

/** Every version of the table; a step that has been released is never changed, a new one is added. */
const STEPS: readonly string[] = [
  `CREATE TABLE observation (
     address TEXT NOT NULL,
     origin TEXT NOT NULL,
     network_class TEXT NOT NULL,
     provider TEXT NOT NULL,
     set_at INTEGER NOT NULL,
     expires_at INTEGER,
     note TEXT NOT NULL,
     PRIMARY KEY (address, origin)
   ) STRICT, WITHOUT ROWID;`,
]

/** How soon what another process wrote is seen here. */
const LOOK_MS = 500

/** Writes between two sweeps of what has ended from memory. */
const SWEEP_EVERY = 1_000

/**
 * Opens the observations in the SQLite file at `path`, for any number of processes: what one writes is on the disk when `put` resolves, and
 * answers in the others within half a second. `find` reads memory alone. With `readOnly` a missing file is empty, and writes are refused.
 */
export async function openSqliteObservations(
  path: string,
  clock: Clock,
  readOnly = false,
): Promise<ObservationStore & Closable> {
  const database = await (readOnly ? openReadOnly : openDatabase)(path, STEPS)
  const { all, upsert, remove, purge } = prepareStatements(database)

  let kept = createObservationIndex()
  let written = 0
  const close = closeOnce(database)
  // What this connection writes is no change of another, and is put in its place below.
  const following = followChanges(database, LOOK_MS, () => {
    // Beside what is known, which stays where a row cannot be read.
    const read = createObservationIndex()
    for (const row of all.all()) read.put(readObservation(row))
    kept = read
  })
  following.look()

  const inForce = ({ expiresAt }: Observation): boolean => expiresAt === undefined || expiresAt > clock.now()

  // The methods that write are async although SQLite answers at once: what it throws has to become a rejection.
  return {
    find: (address) => kept.find(address, inForce),
    async put(prefix, observation) {
      const { networkClass, origin, provider, setAt, expiresAt = null, note } = observation
      purge.run({ now: clock.now() })
      upsert.run({ address: formatHostOrPrefix(prefix), origin, networkClass, provider, setAt, expiresAt, note })
      kept.put(Object.freeze({ ...observation, prefix }))
      if (++written % SWEEP_EVERY === 0) kept.sweep(inForce)
    },
    async remove(prefix, origin) {
      const row = remove.get({ address: formatHostOrPrefix(prefix), origin })
      kept.remove(prefix, origin)
      return row !== undefined && (row['expires_at'] === null || Number(row['expires_at']) > clock.now())
    },
    async list() {
      following.look()
      return all.all().map(readObservation).filter(inForce)
    },
    close() {
      following.stop()
      close()
    },
  }
}

function prepareStatements(database: Database) {
  return {
    all: database.prepare('SELECT * FROM observation ORDER BY address, origin'),
    upsert: database.prepare(
      `INSERT OR REPLACE INTO observation
       VALUES (:address, :origin, :networkClass, :provider, :setAt, :expiresAt, :note)`,
    ),
    remove: database.prepare(
      'DELETE FROM observation WHERE address = :address AND origin = :origin RETURNING expires_at',
    ),
    purge: database.prepare('DELETE FROM observation WHERE expires_at <= :now'),
  }
}

function readObservation(row: SqlRow): PrefixObservation {
  const prefix = parseHostOrPrefix(String(row['address']))
  const networkClass = NETWORK_CLASSES.find((name) => name === row['network_class'])
  const origin = ORIGINS.find((name) => name === row['origin'])
  if (prefix === undefined || networkClass === undefined || origin === undefined) {
    throw new Error(`This version of Sallyport cannot read the observation of ${row['address']}.`)
  }
  return Object.freeze({
    prefix,
    networkClass,
    origin,
    provider: String(row['provider']),
    setAt: Number(row['set_at']),
    ...(row['expires_at'] === null ? {} : { expiresAt: Number(row['expires_at']) }),
    note: String(row['note']),
  })
}

const ORIGINS = ['operator', 'reverse-name'] as const satisfies readonly Observation['origin'][]
