import { once } from 'node:events'
import { createServer, request as requestHttp, type Server } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { DIRECTORY_PATH, SallyportError, type Signer } from '@sallyport/core'
import { openSimulated } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { explanation } from '../requests/explanation.ts'
import {
  type Aim,
  requestFields,
  SIMULATED_AGENTS,
  type SimulatedAgent,
  throwAwaySigner,
} from '../requests/simulated-agents.ts'
import { type JsonOptions, readConfig, using, withJsonOptions, withoutOutbound } from '../settings/settings.ts'
import { parseUrlOption } from '../settings/url.ts'
import { dim, json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly as: string
  readonly url?: URL | undefined
  readonly ip?: string | undefined
  readonly method: string
  readonly path: string
  readonly directoryPort: number
}

/** Port of a simulated agent's key directory: the server under test is configured with this origin. */
const DIRECTORY_PORT = 4180
/** How long the server under test may take to fetch the keys. */
const FETCH_PATIENCE_MS = 2500

/** `sallyport simulate --as NAME [--url URL]` */
export function addSimulateCommand(program: Command, terminal: Terminal): void {
  const names = SIMULATED_AGENTS.map(({ name }) => name)
  withJsonOptions(
    program.command('simulate').description("simulate a client's request; agents that sign use a throw-away key"),
  )
    .addOption(new Option('--as <name>', 'client to simulate').choices(names).makeOptionMandatory())
    .option('--url <url>', 'send the request there (default: decide about it here, and explain)', parseUrlOption)
    .option('--ip <address>', 'address of the client, without --url (default: 8.8.8.8, for browser a home line)')
    .option('--method <method>', 'method of the request', parseMethod, 'GET')
    .addOption(
      new Option('--path <path>', 'path that it asks for, without --url')
        .argParser(parsePath)
        .default('/')
        .conflicts('url'),
    )
    .addOption(
      new Option('--directory-port <n>', 'port of its key directory on 127.0.0.1, with --url')
        .argParser(parsePort)
        .default(DIRECTORY_PORT),
    )
    .action(async (options: Options) => {
      const simulated = SIMULATED_AGENTS.find(({ name }) => name === options.as)
      if (simulated === undefined) throw new SallyportError('invalid_request', `No agent "${options.as}".`)
      const signer = throwAwaySigner()
      if (options.url === undefined) await decideHere(simulated, signer, options, terminal)
      else await send(simulated, signer, { ...options, url: options.url }, terminal)
    })
}

/** The decision of the configured policy, as if the agent had published the throw-away key. */
async function decideHere(simulated: SimulatedAgent, signer: Signer, options: Options, terminal: Terminal) {
  const published = simulated.signs ? [{ agent: simulated.signs.agent, document: signer.directory }] : []
  const { ip: peer = simulated.address ?? '8.8.8.8', method, path: target } = options
  const aim: Aim = { host: 'example.com', method, target, scheme: 'https' }
  const fields = requestFields(simulated, aim, signer)
  const decision = await using(openSimulated(published, withoutOutbound(readConfig(options))), async (sallyport) =>
    sallyport.decide({ ...aim, peer, httpVersion: '1.1', fields }),
  )
  terminal.out(options.json ? json(decision) : explanation(decision))
}

/** Sends a signed request twice: the first makes the server fetch the keys, in the background. */
async function send(
  simulated: SimulatedAgent,
  signer: Signer,
  { url, method, directoryPort, json: asJson }: Options & { readonly url: URL },
  terminal: Terminal,
): Promise<void> {
  const aim: Aim = {
    host: url.host,
    method,
    target: url.pathname + url.search,
    scheme: url.protocol === 'https:' ? 'https' : 'http',
  }
  if (simulated.signs === undefined) {
    const status = await sendRequest(url, method, requestFields(simulated, aim, signer))
    return terminal.out(asJson ? json({ as: simulated.name, statuses: [status] }) : `${simulated.name}: ${status}`)
  }
  const directory = await openDirectory(signer, directoryPort)
  const agent = `http://127.0.0.1:${(directory.address() as AddressInfo).port}`
  let fetched = false
  directory.on('request', () => {
    fetched = true
  })
  try {
    const first = await sendRequest(url, method, requestFields(simulated, aim, signer, agent))
    for (let waited = 0; waited < FETCH_PATIENCE_MS && !fetched; waited += 50) await sleep(50)
    await sleep(100)
    const second = await sendRequest(url, method, requestFields(simulated, aim, signer, agent))
    if (asJson)
      return terminal.out(json({ as: simulated.name, agent, keysFetched: fetched, statuses: [first, second] }))
    terminal.out(`${simulated.name}, before its keys are known: ${first}`)
    terminal.out(`${simulated.name}, ${fetched ? 'with its keys known' : 'its keys were not asked for'}: ${second}`)
    if (!fetched) {
      terminal.out(
        dim(`For that the server needs webBotAuth: { agents: ["${agent}"] } and net: { allowPrivate: [127.0.0.0/8] }`),
      )
    }
  } finally {
    directory.close()
    directory.closeAllConnections()
  }
}

async function openDirectory({ directory }: Signer, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== DIRECTORY_PATH) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/http-message-signatures-directory+json' })
    response.end(JSON.stringify(directory))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: Error) => {
    throw new SallyportError('cannot_listen', `127.0.0.1:${port}: ${error.message}`)
  })
  return server
}

function sendRequest(url: URL, method: string, fields: readonly string[]): Promise<number> {
  // Node would send a body in chunks, which nobody asked for.
  const headers = method === 'GET' || method === 'HEAD' ? fields : [...fields, 'Content-Length', '0']
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, { method, headers: headers as string[], agent: false, timeout: 10_000 }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('timeout', () => request.destroy(new Error('no answer in 10 s')))
    request.on('error', (error) => reject(new SallyportError('bad_gateway', `${url.origin}: ${error.message}`)))
    request.end()
  })
}

/** A method as it is written on the wire. */
function parseMethod(text: string): string {
  if (/^[A-Za-z]{1,20}$/.test(text) && text.toUpperCase() !== 'CONNECT') return text.toUpperCase()
  throw new InvalidArgumentError('It is not a method of a request for a path.')
}

function parsePath(text: string): string {
  if (/^\/[!-~]*$/.test(text)) return text
  throw new InvalidArgumentError('It begins with a slash, and has neither spaces nor other characters than ASCII.')
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('It is not a port.')
  return port
}
