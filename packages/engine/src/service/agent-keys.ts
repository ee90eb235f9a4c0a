import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  answerDirectory,
  currentKey,
  DIRECTORY_PATH,
  type DirectoryAnswer,
  errorText,
  type InspectionRequest,
  isRecord,
  readAgent,
  readAuthority,
  readSigningKeys,
  SallyportError,
  type SigningKey,
} from '@sallyport/core'
import { makeFolder, makeSecret, OWN_FILE } from '#files'
import type { Settings } from '#settings'

/** Names the file in the dataDir with the private keys by which the operator's programs sign requests: a JWK Set with its `agent`. */
export const AGENT_KEYS = 'agent-keys.json'

/** Verifiers read at most this many signatures of one message, and each key signs the directory. */
const MAX_KEYS = 4
/** A key is published this long before its use: twice as long as a directory may be cached. */
const LEAD_MS = 600_000

/** A key without its private part. Times are in milliseconds since the epoch, infinite where the key has no bound. */
export type ShownKey = Pick<SigningKey, 'id' | 'notBefore' | 'notAfter'> & { readonly signs: boolean }

/** Holds the keys of an agent, without their private parts. */
export interface AgentKeys {
  readonly agent: string
  readonly file: string
  readonly keys: readonly ShownKey[]
}

type Place = Pick<Settings, 'dataDir'>

/** Makes the first key of an agent, an https origin. Throws `invalid_config`, also where the dataDir has keys of an agent. */
export function createAgentKeys(place: Place, origin: string, now: number): AgentKeys {
  const agent = readAgent(origin)
  const file = join(place.dataDir, AGENT_KEYS)
  makeFolder(place.dataDir)
  if (!makeSecret(file, toText({ agent, keys: [makeKey()] }))) {
    const advice = 'Run keys agent rotate, or remove the file to end its keys.'
    throw new SallyportError('invalid_config', `${file} already has the keys of an agent. ${advice}`)
  }
  return listAgentKeys(place, now)
}

/** Lists the keys of the dataDir. Throws `invalid_config` where there are none, or the file is malformed. */
export function listAgentKeys({ dataDir }: Place, now: number): AgentKeys {
  const file = join(dataDir, AGENT_KEYS)
  const set = readSet(file)
  const keys = readSigningKeys(set)
  const current = currentKey(keys, now)
  const shown = keys.map((key) => ({
    id: key.id,
    notBefore: key.notBefore,
    notAfter: key.notAfter,
    signs: key === current,
  }))
  return { agent: set.agent, file, keys: shown }
}

/**
 * Makes a successor of the keys of the dataDir. Verifiers see it ten minutes before it signs, or after half of a shorter overlap; the
 * keys before it end with the overlap, in milliseconds: 0 ends them now. Throws `invalid_config`, also for a fifth key.
 */
export function rotateAgentKeys(place: Place, overlapMs: number, now: number): AgentKeys {
  const file = join(place.dataDir, AGENT_KEYS)
  const { agent, keys } = readSet(file)
  const end = Math.floor((now + overlapMs) / 1_000)
  const kept = keys
    .map((key) => ({ ...key, exp: Math.min(end, Number(key['exp'] ?? end)) }))
    .filter(({ exp }) => exp * 1_000 > now)
  if (kept.length >= MAX_KEYS) {
    const until = new Date(Math.min(...kept.map(({ exp }) => exp)) * 1_000).toISOString()
    const advice = `Wait until ${until}, or end all keys now: --overlap 0s.`
    throw new SallyportError('invalid_config', `${file} has ${MAX_KEYS} keys, and verifiers read no more. ${advice}`)
  }
  const begin = overlapMs === 0 ? {} : { nbf: Math.floor((now + Math.min(LEAD_MS, overlapMs / 2)) / 1_000) }
  const draft = `${file}-${randomUUID()}`
  try {
    writeFileSync(draft, toText({ agent, keys: [...kept, { ...makeKey(), ...begin }] }), {
      mode: OWN_FILE,
      flush: true,
    })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  return listAgentKeys(place, now)
}

/** Returns the directory of an agent's keys for a request at the agent's origin; `undefined` for any other request. */
export type FindDirectory = (request: InspectionRequest) => DirectoryAnswer | undefined

/** Holds the clock in milliseconds since the epoch, the trust in peers and the configuration in force. */
export interface DirectoryPorts {
  readonly now: () => number
  isTrusted(peer: string): boolean
  readonly config: () => Pick<Settings, 'dataDir' | 'webBotAuth'>
}

/**
 * Creates the function that returns the directory of the dataDir's keys. A changed file counts with the next request; signatures are made
 * once a minute. The returned function throws `invalid_config` for a malformed file.
 */
export function createDirectoryFinder({ now, isTrusted, config }: DirectoryPorts): FindDirectory {
  let made: { readonly of: string; readonly host: string; readonly answer: DirectoryAnswer } | undefined
  return (request) => {
    // Nearly every target has another prefix.
    if (!request.target.startsWith(DIRECTORY_PATH)) return undefined
    if (request.target !== DIRECTORY_PATH && request.target[DIRECTORY_PATH.length] !== '?') return undefined
    const { dataDir, webBotAuth } = config()
    const file = join(dataDir, AGENT_KEYS)
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    const of = `${stats.ino} ${stats.mtimeMs} ${Math.floor(now() / 60_000)}`
    if (made?.of !== of) {
      const set = readSet(file)
      made = { of, host: new URL(set.agent).host, answer: answerDirectory(set, set.agent, now()) }
    }
    const authorityHeader = webBotAuth?.authorityHeader?.toLowerCase()
    const host = readAuthority({ ...request, trusted: isTrusted(request.peer), authorityHeader })
    return host === made.host ? made.answer : undefined
  }
}

interface KeySet {
  readonly agent: string
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

function readSet(file: string): KeySet {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new SallyportError('invalid_config', `${file} does not exist. Run sallyport keys agent create ORIGIN.`)
  }
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isRecord(read) || !Array.isArray(read['keys'])) throw new Error('the file is not a JWK Set')
    readSigningKeys(read)
    return { agent: readAgent(read['agent']), keys: read['keys'] }
  } catch (error) {
    throw new SallyportError('invalid_config', `${file}: ${errorText(error)}`)
  }
}

function makeKey(): Readonly<Record<string, unknown>> {
  return { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) }
}

function toText(set: KeySet): string {
  return `${JSON.stringify(set, undefined, 2)}\n`
}
