import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Address,
  type BanList,
  clientKey,
  counted,
  formatHostOrPrefix,
  MAX_REVERSE_CHECKS,
  makePrefix,
  type Prefix,
  type PrefixObservation,
  parseHostOrPrefix,
} from '@sallyport/core'
import type { AddressRecord } from '@sallyport/ledger'
import { CLIENT_LIMITS, clientTasks } from '#api'
import { openLedgerPlace } from '#attestation'
import { bansUrl, callCountsUrl, openBanList, openObservations } from '#service'
import type { Settings } from '#settings'
import { openCounts, openSqliteReverseChecks } from '#stores'
import { iso, type PlacesOf, type PrivacyPlace } from './place.ts'

/* The stores that hold addresses. Each is opened for one question and closed. */

export const storePlaces: PlacesOf = (config) => [
  ledger(config),
  bans(config),
  counts(config),
  observations(config),
  checks(config),
]

/** Records that are read at one time. */
const PAGE = 500

function ledger(config: Settings): PrivacyPlace {
  const inFile = config.store === undefined || config.store.startsWith('sqlite:')
  const file = join(config.dataDir, 'ledger.db')
  const { retentionDays } = config.provenance
  return {
    place: 'ledger',
    where: inFile ? file : 'PostgreSQL',
    kept:
      retentionDays === false
        ? 'indefinitely'
        : `${counted(retentionDays, 'day')}; records remain, without the address`,
    exists: () => !inFile || existsSync(file),
    async find(_, text) {
      const { store } = await openLedgerPlace(config)
      try {
        const entries: unknown[] = []
        for (let page: readonly AddressRecord[] = [], after = 0; after === 0 || page.length === PAGE; ) {
          page = await store.recordsAbout(text, after, PAGE)
          entries.push(...page.map(recordShown))
          after = page.at(-1)?.attestationId ?? -1
        }
        return { entries }
      } finally {
        await store.close()
      }
    },
    async erase(_, text) {
      const { store } = await openLedgerPlace(config)
      try {
        return { erased: await store.eraseSubject(text) }
      } finally {
        await store.close()
      }
    },
  }
}

function recordShown({ attestationId, log, bytes, context }: AddressRecord): unknown {
  const record: unknown = JSON.parse(Buffer.from(bytes).toString())
  return { attestationId, log, record, ...(context !== undefined && { context: JSON.parse(context) as unknown }) }
}

function bans(config: Settings): PrivacyPlace {
  const url = bansUrl(config)
  async function using<Result>(work: (list: BanList) => Promise<Result>): Promise<Result> {
    const list = await openBanList(config, (error) => {
      throw error
    })
    try {
      return await work(list)
    } finally {
      await list.close()
    }
  }
  const of = async (list: BanList, address: Address) =>
    (await list.list()).filter(({ key }) => {
      const [kind, text = ''] = key.split(' ')
      const prefix = kind === 'client' ? parseHostOrPrefix(text) : undefined
      return prefix !== undefined && holds(prefix, address)
    })
  return {
    place: 'bans',
    ...describePlace(url),
    kept: 'until the ban ends: policy.strikes.for',
    find: (address) =>
      using(async (list) => ({
        entries: (await of(list, address)).map(({ id, key, on, count, since, until }) => {
          return { id, key, on, count, since: iso(since), until: iso(until) }
        }),
      })),
    erase: (address) =>
      using(async (list) => {
        const ids = (await of(list, address)).map(({ id }) => id)
        if (ids.length === 0) return { erased: 0 }
        return { erased: 0, stays: `bans expire. To end one now: sallyport bans lift ${ids.join(' ')}` }
      }),
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
  async function of(text: string): Promise<readonly unknown[]> {
    const store = await openCounts(url ?? '')
    try {
      const client = clientKey(text)
      const asked = Object.values(CLIENT_LIMITS).map(async (limit) => {
        const tasks = clientTasks(limit, client, 0)
        const { states } = await store.take(tasks, '')
        return states.flatMap(({ used, resetMs }, at) =>
          used === 0 ? [] : [{ count: tasks[at]?.key, used, until: iso(Date.now() + resetMs) }],
        )
      })
      return (await Promise.all(asked)).flat()
    } finally {
      await store.close()
    }
  }
  return {
    place: 'counts',
    ...describePlace(url),
    kept: 'until the window ends: limit.window of a rule, or at most a day for /v1',
    async find(_, text) {
      const elsewhere = 'counters of rules are keyed hashes and cannot be searched; counters of /v1 were searched'
      return { entries: await of(text), elsewhere }
    },
    async erase(_, text) {
      const { length } = await of(text)
      return length === 0 ? { erased: 0 } : { erased: 0, stays: `${length} counters of /v1 expire with their windows` }
    },
  }
}

function observations(config: Settings): PrivacyPlace {
  const file = join(config.dataDir, 'observations.db')
  async function of(address: Address): Promise<readonly PrefixObservation[]> {
    const store = await openObservations(config, { now: Date.now })
    try {
      return (await store.list()).filter(({ prefix }) => holds(prefix, address))
    } finally {
      store.close()
    }
  }
  return {
    place: 'observations',
    where: file,
    kept: 'from a reverse name: 7 days; set by hand: its --ttl, or until ip unset',
    exists: () => existsSync(file),
    async find(address) {
      const entries = (await of(address)).map(({ prefix, setAt, expiresAt, ...said }) => ({
        prefix: formatHostOrPrefix(prefix),
        ...said,
        setAt: iso(setAt),
        ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
      }))
      return { entries }
    },
    async erase(address, text) {
      const found = await of(address)
      const own = found.filter(({ prefix }) => formatHostOrPrefix(prefix) === text)
      const store = await openObservations(config, { now: Date.now })
      try {
        for (const { prefix, origin } of own) await store.remove(prefix, origin)
      } finally {
        store.close()
      }
      const wider = found.length - own.length
      return { erased: own.length, ...(wider > 0 && { stays: `${wider} about a whole prefix that contains it` }) }
    },
  }
}

function checks(config: Settings): PrivacyPlace {
  const file = join(config.dataDir, 'crawler-verdicts.db')
  return {
    place: 'crawler checks',
    where: file,
    kept: 'a confirmation: one day; a refutation: ten minutes',
    exists: () => existsSync(file),
    async find(_, text) {
      const store = await openSqliteReverseChecks(file)
      try {
        const entries = store
          .load(Date.now(), MAX_REVERSE_CHECKS)
          .filter(({ key }) => addressOfKey(key) === text)
          .map(({ until, ...check }) => ({ ...check, until: iso(until) }))
        return { entries }
      } finally {
        store.close()
      }
    },
    async erase(_, text) {
      const store = await openSqliteReverseChecks(file)
      try {
        return { erased: store.remove((key) => addressOfKey(key) === text) }
      } finally {
        store.close()
      }
    },
  }
}

/** The key of a check is its address and the names that were asked for. */
function addressOfKey(key: string): string {
  return key.split(' ', 1)[0] ?? ''
}

function holds(prefix: Prefix, address: Address): boolean {
  if (prefix.address.family !== address.family) return false
  return formatHostOrPrefix(makePrefix(address, prefix.length)) === formatHostOrPrefix(prefix)
}
