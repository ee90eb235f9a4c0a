import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Address, parseAddress } from '@sallyport/core'
import { createFakeDns } from '@sallyport/core/testing'
import { listening } from '@sallyport/engine/testing'
import type { Test } from 'tap'
import { keepSources, NAUGHTY, openScene, type Scene } from './scene.ts'

/** Characters of a pattern: longer lines are no entries of a list. */
const MAX_PATTERN = 1_000

/** A name whose registrar, name servers and state are hostile, at an address whose operator is. */
export const NAUGHTY_NAME = 'naughty.de'
export const FIRST_ASN = 60_001

export const hostileAddress = (index: number): string => `8.${index + 1}.0.1`

const parse = (text: string): Address => parseAddress(text) as Address

/** Opens a registry on loopback that answers with what its customers made up, and returns a bootstrap file that names it. */
async function openRegistry(t: Test, texts: readonly string[]): Promise<string> {
  const vcard = [
    ['version', {}, 'text', '4.0'],
    ['fn', {}, 'text', texts[0]],
  ]
  const entities = [{ objectClassName: 'entity', roles: ['registrar'], vcardArray: ['vcard', vcard] }]
  const nameservers = texts.map((ldhName) => ({ objectClassName: 'nameserver', ldhName }))
  const domain = { objectClassName: 'domain', ldhName: NAUGHTY_NAME, status: texts, entities, nameservers }
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/rdap+json').end(JSON.stringify(domain)),
  )
  // As many names as the published file has: less is refused as not plausible.
  const names = Array.from({ length: 600 }, (_, index) => `x${index}`)
  const services = [
    [['de'], [`http://127.0.0.1:${await listening(t, server)}/rdap/`]],
    [names, ['https://rdap.example/']],
  ]
  return JSON.stringify({ version: '1.0', services })
}

/** A scene in which all that others can write is hostile: operators, registries, visitors, accounts, bans, evidence. */
export async function openHostileScene(t: Test, texts: readonly string[] = NAUGHTY): Promise<Scene> {
  const folder = t.testdir()
  const write = (name: string, text: string): { readonly url: string } => {
    writeFileSync(join(folder, name), text)
    return { url: pathToFileURL(join(folder, name)).href }
  }
  const rows = texts.map((name, index) => {
    const place = hostileAddress(index).replace(/0\.1$/, '')
    return `${place}0.0,${place}255.255,${FIRST_ASN + index},"${name.replaceAll('"', '""')}"\n`
  })
  const sources = {
    ...keepSources('asn-csv-v4'),
    'asn-csv-v4': write('systems.csv', rows.join('')),
    'rdap-dns': write('dns.json', await openRegistry(t, texts)),
  }
  const limit = { key: 'client', max: 1, window: '1h' } as const
  const scene = await openScene(
    {},
    {
      dataDir: join(folder, 'data'),
      data: { refresh: false, sources },
      lists: { strangers: [...texts].map((text) => text.slice(0, MAX_PATTERN)) },
      net: { allowPrivate: ['127.0.0.0/8'] },
      policy: { rules: [{ id: 'slow', match: { path: ['/limited'] }, action: 'throttle', limit }] },
    },
    { dns: createFakeDns({ [NAUGHTY_NAME]: { state: 'found', addresses: [parse(hostileAddress(0))] } }) },
  )
  await comeAndStay(scene, texts)
  return scene
}

async function comeAndStay({ sallyport, visit }: Scene, texts: readonly string[]): Promise<void> {
  const now = Date.now()
  const { keyring, bans, provenance, accounts, decide } = sallyport
  for (const [index, text] of texts.entries()) {
    const from = hostileAddress(index)
    for (const userAgent of [text, `Googlebot/2.1 ${text}`]) await visit(from, { userAgent, path: '/limited' })
    await visit(from, { path: `/${encodeURIComponent(text)}?${encodeURIComponent(text)}` })
    await visit(from, { host: text.replaceAll(/[^ -~]/g, '') })
    await keyring.issue({ name: text })
    const fields = ['User-Agent', text]
    const asked = { method: 'POST', target: '/login', scheme: 'http', httpVersion: '1.1' } as const
    const decision = decide({ ...asked, peer: from, fields })
    const event = { event: 'login', identifier: text, user: text, mail: `${text}@shop.example` } as const
    await accounts.assess({ sallyport: decision, rawHeaders: fields }, { ...event, outcome: 'failure' })
    const ban = { id: `ban${index}`, key: `address ${from}`, on: text, count: 3, since: now, until: now + 600_000 }
    await bans.put(ban)
    const context = { text, note: text.slice(0, 200) }
    await provenance.attest({ account: 'site', address: parse(from), claim: 'DE', context })
  }
}
