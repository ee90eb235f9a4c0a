import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ACCOUNT_EVENTS, type AccountEventName, DIRECTORY_PATH, SallyportError } from '@sallyport/core'
import { createTrialCounter, openSimulated } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { describeEvent } from '../requests/events.ts'
import { explanation } from '../requests/explanation.ts'
import { sendRequest } from '../requests/send.ts'
import {
  type Aim,
  findVisitor,
  publishedKeys,
  requestFields,
  SIMULATED_AGENTS,
  type SimulatedAgent,
  throwAwaySigner,
} from '../requests/simulated-agents.ts'
import { createParser, parseUrlOption } from '../settings/option-parser.ts'
import { type JsonOptions, readConfig, using, withJsonOptions, withoutOutbound } from '../settings/settings.ts'
import { dim, json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly as: string
  readonly url?: URL | undefined
  readonly ip?: string | undefined
  readonly method: string
  readonly path: string
  readonly event?: AccountEventName | undefined
  readonly directoryPort: number
}

type ThrowAwaySigner = ReturnType<typeof throwAwaySigner>

/** A simulated agent's key directory listens on this port: the server under test is configured with this origin. */
const DIRECTORY_PORT = 4180
const FETCH_PATIENCE_MS = 2500

export function addSimulateCommand(program: Command, terminal: Terminal): void {
  const names = SIMULATED_AGENTS.map(({ name }) => name)
  withJsonOptions(
    program.command('simulate').description("simulate a client's request; signing agents use a temporary key"),
  )
    .addOption(new Option('--as <name>', 'client to simulate').choices(names).makeOptionMandatory())
    .option('--url <url>', 'send the request to this URL (default: decide locally and explain)', parseUrlOption)
    .option('--ip <address>', 'client address, without --url (default: 8.8.8.8; for browser, a residential address)')
    .option('--method <method>', 'request method', parseMethod, 'GET')
    .addOption(
      new Option('--path <path>', 'request path, without --url').argParser(parsePath).default('/').conflicts('url'),
    )
    .addOption(
      new Option('--event <name>', 'account event of an unknown account, without --url')
        .choices(ACCOUNT_EVENTS)
        .conflicts('url'),
    )
    .addOption(
      new Option('--directory-port <n>', "port of the agent's key directory on 127.0.0.1, with --url")
        .argParser(parsePort)
        .default(DIRECTORY_PORT),
    )
    .action(async (options: Options) => {
      const simulated = findVisitor(options.as)
      const signer = throwAwaySigner()
      if (options.url === undefined) await decideHere(simulated, signer, options, terminal)
      else await send(simulated, signer, { ...options, url: options.url }, terminal)
    })
}

/** Returns the decision of the configured policy, as if the agent had published the throw-away key. */
async function decideHere(
  simulated: ReturnType<typeof findVisitor>,
  signer: ThrowAwaySigner,
  options: Options,
  terminal: Terminal,
): Promise<void> {
  const { ip: peer = simulated.address, method, path: target } = options
  const aim: Aim = { host: 'example.com', method, target, scheme: 'https' }
  const fields = requestFields(simulated, aim, signer)
  const config = withoutOutbound(readConfig(options))
  const decision = await using(openSimulated(publishedKeys(signer), config), async (sallyport) => {
    const decided = sallyport.decide({ ...aim, peer, httpVersion: '1.1', fields })
    if (options.event === undefined) return decided
    const event = describeEvent({ event: options.event, user: 'somebody', facts: [] })
    const { events } = createTrialCounter(config, { now: Date.now })
    return events.judge({ ...decided.inspection, event }, fields).decided
  })
  terminal.out(options.json ? json(decision) : explanation(decision))
}

/** Sends a signed request twice: the first makes the server fetch the keys, in the background. */
async function send(
  simulated: SimulatedAgent,
  signer: ThrowAwaySigner,
  { url, method, directoryPort, json: asJson }: Options & { readonly url: URL },
  terminal: Terminal,
): Promise<void> {
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const aim: Aim = { host: url.host, method, target: url.pathname + url.search, scheme }
  const sendSigned = async (agent?: string): Promise<number> => {
    const fields = requestFields(simulated, aim, signer, { agent })
    // Node would otherwise send an empty body in chunks.
    const more = method === 'GET' || method === 'HEAD' ? [] : ['Content-Length', '0']
    const sent = sendRequest(url, method, [...fields, ...more])
    return (await sent.catch((error) => Promise.reject(badGateway(url, error)))).status
  }
  if (simulated.signs === undefined) {
    const status = await sendSigned()
    return terminal.out(asJson ? json({ as: simulated.name, statuses: [status] }) : `${simulated.name}: ${status}`)
  }
  const directory = await openDirectory(signer, directoryPort)
  const agent = `http://127.0.0.1:${(directory.address() as AddressInfo).port}`
  const fetching = once(directory, 'request').then(() => true)
  try {
    const first = await sendSigned(agent)
    const fetched = await Promise.race([fetching, sleep(FETCH_PATIENCE_MS, false, { ref: false })])
    await sleep(100)
    const second = await sendSigned(agent)
    if (asJson)
      return terminal.out(json({ as: simulated.name, agent, keysFetched: fetched, statuses: [first, second] }))
    terminal.out(`${simulated.name}, before its keys are known: ${first}`)
    terminal.out(`${simulated.name}, ${fetched ? 'with known keys' : 'its keys were not fetched'}: ${second}`)
    const needs = `The server needs webBotAuth: { agents: ["${agent}"] } and net: { allowPrivate: [127.0.0.0/8] }`
    if (!fetched) terminal.out(dim(needs))
  } finally {
    directory.close()
    directory.closeAllConnections()
  }
}

async function openDirectory(signer: ThrowAwaySigner, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== DIRECTORY_PATH) return void response.writeHead(404).end()
    const { headers, body } = signer.answer(`http://${request.headers.host}`)
    response.writeHead(200, headers).end(body)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: Error) => {
    throw new SallyportError('cannot_listen', `127.0.0.1:${port}: ${error.message}`)
  })
  return server
}

function badGateway({ origin }: URL, error: Error): SallyportError {
  return new SallyportError('bad_gateway', `${origin}: ${error.message}`)
}

const parseMethod = createParser(
  (text) => (/^(?!connect$)[a-z]{1,20}$/i.test(text) ? text.toUpperCase() : undefined),
  'The value is not a request method.',
)

const parsePath = createParser(
  (text) => (/^\/[!-~]*$/.test(text) ? text : undefined),
  'The path must begin with a slash and contain only ASCII without spaces.',
)

const parsePort = createParser((text) => {
  const port = Number(text)
  return Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : undefined
}, 'The value is not a port.')
