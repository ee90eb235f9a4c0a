import type { Sallyport } from '@sallyport/engine'
import { bold, dim, type Terminal } from '../terminal/terminal.ts'
import { toCurl } from './curl.ts'
import { canVisit, decideVisit, fieldsFor } from './visit.ts'
import { DEMO_VISITORS, type DemoVisitor } from './visitors.ts'

const DEMO_ACCOUNT = 'demo'

/** Prints visitors to try on the example site, with their verdicts, and an API key. */
export async function showDemo(sallyport: Sallyport, url: string, terminal: Terminal): Promise<void> {
  terminal.err('')
  // Without trust in loopback our own visitors would use up the warning about forwarding headers.
  if (canVisit({ sallyport, url })) {
    terminal.err(`${bold('Choose a visitor in a browser:')} ${url}/`)
    terminal.err(bold('Try these, in another terminal:'))
    for (const visitor of DEMO_VISITORS) terminal.err(visit(sallyport, url, visitor))
  } else {
    terminal.err('With --trust-proxy loopback, X-Forwarded-For sets the client address, so you can try other networks.')
  }
  if (sallyport.config.api.enabled) await showKey(sallyport, url, terminal)
}

async function showKey(sallyport: Sallyport, url: string, terminal: Terminal): Promise<void> {
  const { api, dataDir } = sallyport.config
  const key = await demoKey(sallyport)
  terminal.err(dim('  # the API, with a key'))
  terminal.err(`  curl -H 'Authorization: Bearer ${key ?? '<API_KEY>'}' ${url}${api.base}/v1/vpn/185.220.101.10`)
  terminal.err('')
  if (key !== undefined) terminal.err(`${bold('API key of the demo account, shown only once:')} ${key}`)
  else terminal.err(`The demo has no new API key. To create one: npx sallyport keys create --data-dir ${dataDir}`)
}

function visit(sallyport: Sallyport, url: string, visitor: DemoVisitor): string {
  const { who, address, paths } = visitor
  const { host } = new URL(url)
  const target = paths.at(-1) ?? '/'
  const own = [sallyport.config.clientHeader, address]
  const fields = [...fieldsFor(visitor, { host, target }), ...own]
  const { action, enforced, inspection } = decideVisit(sallyport, visitor, { host, target }, fields)
  const { network, crawler, agent } = inspection
  // The action of several requests, or of a payment, is known only after them.
  const carried = visitor.comes ?? (enforced ? action : `${action}, not enforced`)
  const claim = crawler && `${crawler.name}: ${crawler.outcome}`
  const program = `bot probability ${Math.round(agent.botProbability * 100)} %`
  const why = [network.verdict.classification, network.asName, claim, program]
    .filter((part) => part !== undefined)
    .join(', ')
  return [
    `${dim(`  # ${who} → `)}${bold(carried)} ${dim(`(${why})`)}`,
    `  ${toCurl(host, paths, fields, visitor.body)}`,
  ].join('\n')
}

/** Creates a key for the demo account; `undefined` where the store has that account already, or does not respond. */
async function demoKey({ accounts, keyring }: Sallyport): Promise<string | undefined> {
  try {
    const known = await accounts.listAccounts()
    if (known.some(({ name }) => name === DEMO_ACCOUNT)) return undefined
    return (await keyring.issue({ name: DEMO_ACCOUNT })).key
  } catch {
    return undefined
  }
}
