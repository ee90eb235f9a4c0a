import { createServer } from 'node:http'
import { parseAddress } from '@sallyport/core'
import { createFakeDns } from '@sallyport/core/testing'
import type { Test } from 'tap'
import { freePort, listening } from '#stores/testing'
import { type ConfigInput, doctor, type Finding } from '../../src/open/index.ts'
import { madeConfig } from '../open/made-sources.ts'

const known = parseAddress('198.41.0.4')
/** Names that a doctor asks for. */
export const DNS = createFakeDns({
  'a.root-servers.net': { state: 'found', addresses: known === undefined ? [] : [known] },
})

/** The place of a server that answers each request so. */
export async function answering(t: Test, answer: string): Promise<string> {
  const server = createServer({ requireHostHeader: false }, (_, response) => response.end(answer))
  return `127.0.0.1:${await listening(t, server)}`
}

/** A configuration in which there is nothing to find. */
export async function soundConfig(t: Test): Promise<ConfigInput> {
  const [listen, admin] = [await freePort(), await freePort()]
  return {
    ...madeConfig(t.testdir()),
    listen: `127.0.0.1:${listen}`,
    admin: `127.0.0.1:${admin}`,
    trustProxy: ['loopback'],
  }
}

export const of = (findings: readonly Finding[], check: Finding['check']) =>
  findings.filter((finding) => finding.check === check)
/** Returns the findings of one check about a configuration. */
export const examine = async (config: ConfigInput, check: Finding['check']) =>
  of(await doctor(config, { dns: DNS }), check)

export const bad = (findings: readonly Finding[]) => findings.filter(({ state }) => state !== 'ok')
