import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Address,
  clientKey,
  counted,
  formatHostOrPrefix,
  MAX_REVERSE_CHECKS,
  makePrefix,
  type ObservationStore,
  type Prefix,
  parseHostOrPrefix,
} from '@sallyport/core'
import type { AddressRecord } from '@sallyport/ledger'
import { CLIENT_LIMITS, clientTasks } from '#api'
import { openLedgerPlace } from '#attestation'
import { bansUrl, callCountsUrl, LEDGER_FILE, openBanList, openObservations } from '#service'
import type { Settings } from '#settings'
import { openCounts, openSqliteReverseChecks } from '#stores'
import { iso, type PrivacyPlace } from './place.ts'

/* The stores that hold addresses. Each is opened for one question and closed. */

export function storePlaces(config: Settings): readonly PrivacyPlace[] {
  return [ledger(config), bans(config), counts(config), observations(config), checks(config)]
}

/** Asks a store that is opened for this question, and closes it. */
async function ask<Store extends { close(): Promise<void> | void }, Answer>(
  opening: Promise<Store>,
  question: (store: Store) => Promise<Answer>,
): Promise<Answer> {
  const store = await opening
  try {
    return await question(store)
  } finally {
    await store.close()
  }
}

/** Records that are read at one time. */
const PAGE = 500

function ledger(config: Settings): PrivacyPlace {
  const inFile = config.store === undefined || config.store.startsWith('sqlite:')
  const file = join(config.dataDir, LEDGER_FILE)
  const { retentionDays } = config.provenance
  const open = async () => (await openLedgerPlace(config)).store
  return {
    place: 'ledger',
    where: inFile ? file : 'PostgreSQL',
    kept:
      retentionDays === false
        ? 'indefinitely'
        : `${counted(retentionDays, 'day')}; records remain, without the address`,
    exists: () => !inFile || existsSync(file),
    find: (_, text) =>
      ask(open(), async (store) => {
        const entries: unknown[] = []
        for (let page: readonly AddressRecord[] = [], after = 0; after === 0 || page.length === PAGE; ) {
          page = await store.recordsAbout(text, after, PAGE)
          entries.push(...page.map(recordShown))
          after = page.at(-1)?.attestationId ?? -1
        }
        return { entries }
      }),
    erase: (_, text) => ask(open(), async (store) => ({ erased: await store.eraseSubject(text) })),
  }
}

function recordShown({ attestationId, log, bytes, context }: AddressRecord): unknown {
  const record: unknown = JSON.parse(Buffer.from(bytes).toString())
  return { attestationId, log, record, ...(context !== undefined && { context: JSON.parse(context) as unknown }) }
}

function bans(config: Settings): PrivacyPlace {
  const onFault = (error: unknown): never => {
    throw error
  }
  const listAbout = (address: Address) =>
    ask(openBanList(config, onFault), async (store) =>
      (await store.list()).filter(({ key }) => {
        const [kind, text = ''] = key.split(' ')
        const prefix = kind === 'client' ? parseHostOrPrefix(text) : undefined
        return prefix !== undefined && holds(prefix, address)
      }),
    )
  return {
    place: 'bans',
    ...describePlace(bansUrl(config)),
    kept: 'until the ban ends: policy.strikes.for',
    async find(address) {
      const entries = (await listAbout(address)).map(({ id, key, on, count, since, until }) => {
        return { id, key, on, count, since: iso(since), until: iso(until) }
      })
      return { entries }
    },
    async erase(address) {
      const ids = (await listAbout(address)).map(({ id }) => id)
      const stays = `bans expire. To end one now: sallyport bans lift ${ids.join(' ')}`
      return { erased: 0, stays: ids.length === 0 ? undefined : stays }
    },
  }
}

/** A file, or Redis; the memory of processes is a place of its own. */
function describePlace(url: string | undefined): Pick<PrivacyPlace, 'where' | 'exists'> {
  if (url === undefined) return { where: 'the memory of each process', exists: () => false }
  if (!url.startsWith('sqlite:')) return { where: 'Redis', exists: () => true }
  const where = url.slice('sqlite:'.length)
  return { where, exists: () => existsSync(where) }
}

function counts(config: Settings): PrivacyPlace {
  const url = callCountsUrl(config)
  const listAbout = (text: string): Promise<readonly unknown[]> =>
    ask(openCounts(url ?? ''), async (store) => {
      const client = clientKey(text)
      const rows = Object.values(CLIENT_LIMITS).map(async (limit) => {
        const tasks = clientTasks(limit, client, 0)
        const { states } = await store.take(tasks, '')
        return states.flatMap(({ used, resetMs }, at) =>
          used === 0 ? [] : [{ count: tasks[at]?.key, used, until: iso(Date.now() + resetMs) }],
        )
      })
      return (await Promise.all(rows)).flat()
    })
  return {
    place: 'counts',
    ...describePlace(url),
    kept: 'until the window ends: limit.window of a rule, or at most a day for /v1',
    async find(_, text) {
      const elsewhere = 'counters of rules are keyed hashes and cannot be searched; counters of /v1 were searched'
      return { entries: await listAbout(text), elsewhere }
    },
    async erase(_, text) {
      const { length } = await listAbout(text)
      return { erased: 0, stays: length === 0 ? undefined : `${length} counters of /v1 expire with their windows` }
    },
  }
}

function observations(config: Settings): PrivacyPlace {
  const file = join(config.dataDir, 'observations.db')
  const open = () => openObservations(config, { now: Date.now })
  const listAbout = async (store: Pick<ObservationStore, 'list'>, address: Address) =>
    (await store.list()).filter(({ prefix }) => holds(prefix, address))
  return {
    place: 'observations',
    where: file,
    kept: 'from a reverse name: 7 days; set by hand: its --ttl, or until ip unset',
    exists: () => existsSync(file),
    async find(address) {
      const found = await ask(open(), (store) => listAbout(store, address))
      const entries = found.map(({ prefix, setAt, expiresAt, ...said }) => ({
        prefix: formatHostOrPrefix(prefix),
        ...said,
        setAt: iso(setAt),
        ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
      }))
      return { entries }
    },
    erase: (address, text) =>
      ask(open(), async (store) => {
        const found = await listAbout(store, address)
        const own = found.filter(({ prefix }) => formatHostOrPrefix(prefix) === text)
        for (const { prefix, origin } of own) await store.remove(prefix, origin)
        const wider = found.length - own.length
        const stays = `${wider} about a whole prefix that contains it`
        return { erased: own.length, stays: wider === 0 ? undefined : stays }
      }),
  }
}

function checks(config: Settings): PrivacyPlace {
  const file = join(config.dataDir, 'crawler-verdicts.db')
  return {
    place: 'crawler checks',
    where: file,
    kept: 'a confirmation: one day; a refutation: ten minutes',
    exists: () => existsSync(file),
    find: (_, text) =>
      ask(openSqliteReverseChecks(file), async (store) => {
        const all = store.load(Date.now(), MAX_REVERSE_CHECKS).filter(({ key }) => readAddress(key) === text)
        return { entries: all.map(({ until, ...check }) => ({ ...check, until: iso(until) })) }
      }),
    erase: (_, text) =>
      ask(openSqliteReverseChecks(file), async (store) => ({
        erased: store.remove((key) => readAddress(key) === text),
      })),
  }
}

/** Reads the address of a check's key, which also has the names that were asked for. */
function readAddress(key: string): string {
  return key.split(' ', 1)[0] ?? ''
}

function holds(prefix: Prefix, address: Address): boolean {
  if (prefix.address.family !== address.family) return false
  return formatHostOrPrefix(makePrefix(address, prefix.length)) === formatHostOrPrefix(prefix)
}
