import { isRecord } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import type { Choice } from '../terminal/ask.ts'

type Policy = NonNullable<ConfigInput['policy']>

export interface Protection extends Choice {
  readonly preset: Policy['preset']
  readonly limits?: Policy['limits']
}

export const PROTECTIONS: readonly Protection[] = [
  {
    name: 'site',
    about: 'pages and articles: blocks training crawlers, challenges bots that pose as browsers',
    preset: 'protect-content',
  },
  {
    name: 'api',
    about: 'an API: allows each client 600 requests a minute below /api',
    preset: 'low-friction',
    limits: ['api-fair-use'],
  },
  {
    name: 'login',
    about: 'a login: challenges and throttles password guessing, bans scanners',
    preset: 'low-friction',
    limits: ['login-guard', 'scanner-guard'],
  },
  {
    name: 'everything',
    about: 'everything: throttles and blocks scrapers by kind and volume, with the limits above',
    preset: 'stop-scrapers',
    limits: ['api-fair-use', 'login-guard', 'scanner-guard'],
  },
]

const COMMENTS: Readonly<Record<string, string>> = {
  listen: 'Address the proxy listens on; 0.0.0.0:80 accepts connections from the network.',
  upstream: 'The origin behind the proxy.',
  mode: 'monitor records decisions without blocking; enforce applies them.',
  trustProxy: 'Proxies in front, whose X-Forwarded-For is trusted. Empty: clients connect directly.',
  policy: 'Add your own rules under rules; they precede the rules of the preset.',
  dataDir: 'Directory of data, counts and stores.',
  watch: 'Reload this file when it changes.',
}

export function formatYaml(settings: ConfigInput): string {
  const quote = (text: string) => (PLAIN.test(text) ? text : JSON.stringify(text))
  const format = (value: unknown): string =>
    isRecord(value)
      ? Object.entries(value).reduce((text, [key, inner]) => `${text}\n  ${key}: ${formatFlow(inner, quote)}`, '')
      : ` ${formatFlow(value, quote)}`
  const rows = Object.entries(settings).map(([key, value]) => `# ${COMMENTS[key]}\n${key}:${format(value)}\n`)
  return rows.join('\n')
}

export function formatLiteral(settings: ConfigInput): string {
  const quote = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const rows = Object.entries(settings).map(
    ([key, value]) => `  // ${COMMENTS[key]}\n  ${key}: ${formatFlow(value, quote)},\n`,
  )
  return `{\n${rows.join('')}}`
}

/** Matches texts that YAML reads as text without quotes. */
const PLAIN = /^[a-z\d][\w./:-]*[\w/]$/i

function formatFlow(value: unknown, quote: (text: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((inner) => formatFlow(inner, quote)).join(', ')}]`
  if (typeof value === 'string') return quote(value)
  if (!isRecord(value)) return String(value)
  const members = Object.entries(value).map(([key, inner]) => `${key}: ${formatFlow(inner, quote)}`)
  return `{ ${members.join(', ')} }`
}
