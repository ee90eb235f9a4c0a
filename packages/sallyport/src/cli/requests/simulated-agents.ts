import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { answerDirectory, createSigner, type DirectoryAnswer, SallyportError, type Signer } from '@sallyport/core'
import type { PublishedKeys } from '@sallyport/engine'

export interface Aim {
  readonly host: string
  readonly method: string
  readonly target: string
  readonly scheme: 'http' | 'https'
}

export interface SimulatedAgent {
  readonly name: string
  readonly headers: readonly string[]
  /** Default: an address of a data center. */
  readonly address?: string | undefined
  readonly signs?:
    | {
        /** The origin where the agent publishes its keys. */
        readonly agent: string
        readonly label: string
        readonly components: string
        /** Writes `Signature-Agent` for an origin, in the form that this agent uses. */
        header(agent: string): string
      }
    | undefined
}

const CHROME_TEXT = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const BRANDS = '"Chromium";v="150", "Google Chrome";v="150", "Not.A/Brand";v="99"'

function chromeHeaders(system: string, platform: string): readonly string[] {
  const fields = {
    'sec-ch-ua': BRANDS,
    'sec-ch-ua-mobile': '?0',
    'sec-ch-ua-platform': `"${platform}"`,
    'Upgrade-Insecure-Requests': '1',
    'User-Agent': `Mozilla/5.0 (${system}) ${CHROME_TEXT}`,
    Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'Sec-Fetch-Site': 'none',
    'Sec-Fetch-Mode': 'navigate',
    'Sec-Fetch-User': '?1',
    'Sec-Fetch-Dest': 'document',
    'Accept-Encoding': 'gzip, deflate, br, zstd',
    'Accept-Language': 'en-US,en;q=0.9',
  }
  return Object.entries(fields).flat()
}

/** An address that a household has, in AS7922 (Comcast). */
const HOME_LINE = '73.162.10.20'

const MAC = 'Macintosh; Intel Mac OS X 10_15_7'

/** The headers are as observed, including mistakes: ChatGPT's agent names macOS in one header and Linux in another. */
export const SIMULATED_AGENTS: readonly SimulatedAgent[] = [
  {
    name: 'chatgpt-agent',
    headers: chromeHeaders(MAC, 'Linux'),
    signs: {
      agent: 'https://chatgpt.com',
      label: 'sig1',
      components: '"@authority" "@method" "@path" "signature-agent"',
      header: (agent) => `"${agent}"`,
    },
  },
  {
    name: 'google-agent',
    headers: ['User-Agent', `Mozilla/5.0 (X11; Linux x86_64) ${CHROME_TEXT} (compatible; Google-Agent)`],
    signs: {
      agent: 'https://agent.bot.goog',
      label: 'g',
      components: '"@authority" "signature-agent";key="g"',
      header: (agent) => `g="${agent}"`,
    },
  },
  { name: 'browser', headers: chromeHeaders(MAC, 'macOS'), address: HOME_LINE },
  { name: 'posing-browser', headers: chromeHeaders('Windows NT 10.0; Win64; x64', 'Linux') },
  {
    name: 'scripted-chrome',
    headers: ['User-Agent', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME_TEXT}`, 'Accept', '*/*'],
  },
  {
    name: 'headless',
    headers: ['User-Agent', `Mozilla/5.0 (X11; Linux x86_64) ${CHROME_TEXT}`.replace('Chrome/', 'HeadlessChrome/')],
  },
  {
    name: 'googlebot',
    headers: ['User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  },
  { name: 'gptbot', headers: ['User-Agent', 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'] },
  { name: 'curl', headers: ['User-Agent', 'curl/8.5.0', 'Accept', '*/*'] },
]

/** Signs with a key that only this process has, and answers requests for the directory of that key. */
export function throwAwaySigner(): Signer & { answer(agent: string): DirectoryAnswer } {
  const { privateKey } = generateKeyPairSync('ed25519')
  return { ...createSigner(privateKey), answer: (agent) => answerDirectory(privateKey, agent, Date.now()) }
}

const LIFE_S = 300

const DATA_CENTER = '8.8.8.8'

/** Finds the visitor with a name; throws `invalid_config` where there is none. */
export function findVisitor(name: string): SimulatedAgent & { readonly address: string } {
  const visitor = SIMULATED_AGENTS.find((one) => one.name === name)
  if (visitor !== undefined) return { ...visitor, address: visitor.address ?? DATA_CENTER }
  const names = SIMULATED_AGENTS.map(({ name }) => name)
  throw new SallyportError('invalid_config', `as: "${name}" is not a visitor. Use one of ${names.join(', ')}`)
}

/** Lists the key directories of agents that sign, as if each had published the key of this process. */
export function publishedKeys(signer: Signer): readonly PublishedKeys[] {
  return SIMULATED_AGENTS.flatMap(({ signs }) => (signs ? [{ agent: signs.agent, document: signer.directory }] : []))
}

/** Returns the fields of one request of an agent, signed where the agent signs. `agent` replaces the origin to sign for. */
export function requestFields(
  simulated: SimulatedAgent,
  aim: Aim,
  signer: Signer,
  { agent, now = Date.now() }: { readonly agent?: string | undefined; readonly now?: number } = {},
): readonly string[] {
  const { signs, headers } = simulated
  const unsigned = ['Host', aim.host, ...headers]
  if (signs === undefined) return unsigned
  const named = [...unsigned, 'Signature-Agent', signs.header(agent ?? signs.agent)]
  const created = Math.floor(now / 1000)
  const signing = { created, expires: created + LIFE_S, nonce: randomBytes(48).toString('base64') }
  const { label, components } = signs
  return [...named, ...signer.sign({ request: { fields: named, ...aim }, label, components, ...signing })]
}
