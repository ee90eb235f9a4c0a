import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createSigner, type Signer } from '@sallyport/core'

/** Target of a simulated agent. */
export interface Aim {
  readonly host: string
  readonly method: string
  readonly target: string
  readonly scheme: 'http' | 'https'
}

/** A visitor that can be simulated: its headers, and how it signs. */
export interface SimulatedAgent {
  readonly name: string
  readonly headers: readonly string[]
  /** Default: an address of a data center. */
  readonly address?: string | undefined
  readonly signs?:
    | {
        /** The agent's own origin. */
        readonly agent: string
        readonly label: string
        readonly components: string
        /** `Signature-Agent` for an origin, in the form that this agent uses. */
        header(agent: string): string
      }
    | undefined
}

const CHROME_TEXT = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const BRANDS = '"Chromium";v="150", "Google Chrome";v="150", "Not.A/Brand";v="99"'

function chromeHeaders(system: string, platform: string): readonly string[] {
  return [
    'sec-ch-ua',
    BRANDS,
    'sec-ch-ua-mobile',
    '?0',
    'sec-ch-ua-platform',
    `"${platform}"`,
    'Upgrade-Insecure-Requests',
    '1',
    'User-Agent',
    `Mozilla/5.0 (${system}) ${CHROME_TEXT}`,
    'Accept',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'Sec-Fetch-Site',
    'none',
    'Sec-Fetch-Mode',
    'navigate',
    'Sec-Fetch-User',
    '?1',
    'Sec-Fetch-Dest',
    'document',
    'Accept-Encoding',
    'gzip, deflate, br, zstd',
    'Accept-Language',
    'en-US,en;q=0.9',
  ]
}

/** An address of a household, of AS7922 (Comcast). */
const HOME_LINE = '73.162.10.20'

const MAC = 'Macintosh; Intel Mac OS X 10_15_7'

/** As observed, mistakes included: ChatGPT's agent names macOS in one header and Linux in another. */
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

/** A key for this process alone. */
export function throwAwaySigner(): Signer {
  return createSigner(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
}

const LIFE_S = 300

/** The fields of one request of an agent, signed where it signs. `agent`: another origin to sign for. */
export function requestFields(simulated: SimulatedAgent, aim: Aim, signer: Signer, agent?: string): readonly string[] {
  const { signs, headers } = simulated
  const unsigned = ['Host', aim.host, ...headers]
  if (signs === undefined) return unsigned
  const named = [...unsigned, 'Signature-Agent', signs.header(agent ?? signs.agent)]
  const created = Math.floor(Date.now() / 1000)
  const signing = { created, expires: created + LIFE_S, nonce: randomBytes(48).toString('base64') }
  const { label, components } = signs
  return [...named, ...signer.sign({ request: { fields: named, ...aim }, label, components, ...signing })]
}
