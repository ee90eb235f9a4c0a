import type { Sallyport } from '@sallyport/engine'
import { bold, dim, type Terminal } from '../terminal/terminal.ts'
import { curlOf } from './curl.ts'
import { fieldsFor } from './visit.ts'
import { DEMO_VISITORS, type DemoVisitor } from './visitors.ts'

const DEMO_ACCOUNT = 'demo'
const LOOPBACK = '127.0.0.1'

/** Prints visitors to try on the example site, with their verdicts, and an API key. */
export async function showDemo(sallyport: Sallyport, url: string, terminal: Terminal): Promise<void> {
  terminal.err('')
  // Without trust the warning about forwarding headers would be spent on visitors of ours.
  if (sallyport.isTrusted(LOOPBACK)) {
    terminal.err(`${bold('Choose a visitor in a browser:')} ${url}/`)
    terminal.err(bold('Try these, in another terminal:'))
    for (const visitor of DEMO_VISITORS) terminal.err(visit(sallyport, url, visitor))
  } else {
    terminal.err('With --trust-proxy loopback, X-Forwarded-For says who visits, and other networks can be tried.')
  }
  if (sallyport.config.api.enabled) await showKey(sallyport, url, terminal)
}

async function showKey(sallyport: Sallyport, url: string, terminal: Terminal): Promise<void> {
  const { api, dataDir } = sallyport.config
  let key: string | undefined
  try {
    key = await demoKey(sallyport)
  } catch {
    terminal.err('The store does not answer, so there is no API key to show.')
    return
  }
  terminal.err(dim('  # the API, asked with a key'))
  terminal.err(`  curl -H 'Authorization: Bearer ${key ?? '<API_KEY>'}' ${url}${api.base}/v1/vpn/185.220.101.10`)
  terminal.err('')
  if (key !== undefined) terminal.err(`${bold('API key of the demo account, shown this once:')} ${key}`)
  else
    terminal.err(
      `The demo's API key was shown at the first start. Another: npx sallyport keys create --data-dir ${dataDir}`,
    )
}

function visit(sallyport: Sallyport, url: string, visitor: DemoVisitor): string {
  const { who, address, paths } = visitor
  const { host } = new URL(url)
  const target = paths.at(-1) ?? '/'
  const own = [sallyport.config.clientHeader, address]
  const fields = [...fieldsFor(visitor, { host, target }), ...own]
  const { action, enforced, inspection } = sallyport.decide({
    peer: LOOPBACK,
    method: 'GET',
    target,
    scheme: 'http',
    httpVersion: '1.1',
    fields,
  })
  const { network, crawler, agent } = inspection
  // The action of several requests is known when they have come.
  const carried = paths.length > 1 ? visitor.comes : enforced ? action : `${action}, not enforced`
  const claim = crawler && `${crawler.name}: ${crawler.outcome}`
  const program = `a program with ${Math.round(agent.botProbability * 100)} %`
  const why = [network.verdict.classification, network.asName, claim, program]
    .filter((part) => part !== undefined)
    .join(', ')
  return [
    `${dim(`  # ${who} → `)}${bold(carried ?? action)} ${dim(`(${why})`)}`,
    `  ${curlOf(host, paths, fields).replaceAll('\n', '\n  ')}`,
  ].join('\n')
}

/** A key for the demo account; `undefined` where the store has that account already. */
async function demoKey({ accounts, keyring }: Sallyport): Promise<string | undefined> {
  const known = await accounts.listAccounts()
  if (known.some(({ name }) => name === DEMO_ACCOUNT)) return undefined
  return (await keyring.issue({ name: DEMO_ACCOUNT })).key
}
