import { isRecord } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import type { Choice } from '../terminal/ask.ts'

type Policy = NonNullable<ConfigInput['policy']>

/** What is protected, and by which policy. */
export interface Protection extends Choice {
  readonly preset: Policy['preset']
  readonly limits?: Policy['limits']
}

export const PROTECTIONS: readonly Protection[] = [
  {
    name: 'site',
    about: 'pages and articles: blocks training crawlers, challenges programs that pose as browsers',
    preset: 'protect-content',
  },
  {
    name: 'api',
    about: 'an API: 600 requests a minute for each client below /api',
    preset: 'low-friction',
    limits: ['api-fair-use'],
  },
  {
    name: 'login',
    about: 'a login: challenges and slows password guessing, bans scanners',
    preset: 'low-friction',
    limits: ['login-guard', 'scanner-guard'],
  },
  {
    name: 'everything',
    about: 'all of it: slows and blocks scrapers by kind and amount, with the limits above',
    preset: 'stop-scrapers',
    limits: ['api-fair-use', 'login-guard', 'scanner-guard'],
  },
]

/** What is written above each key. */
const COMMENTS: Readonly<Record<string, string>> = {
  listen: 'Where the proxy takes requests; 0.0.0.0:80 opens it to the network.',
  upstream: 'The server that answers them.',
  mode: 'Decides and records, and refuses nobody; enforce puts the policy in force.',
  trustProxy: 'What stands in front: its X-Forwarded-For names the client. Empty: clients connect directly.',
  policy: 'Rules of your own go under rules, and are decided before those of the preset.',
  dataDir: 'Data, counts and stores.',
  watch: 'A change of this file is taken over at once.',
}

/** Writes settings as a configuration file. */
export function formatYaml(settings: ConfigInput): string {
  const quote = (text: string) => (PLAIN.test(text) ? text : JSON.stringify(text))
  const format = (value: unknown): string =>
    isRecord(value)
      ? Object.entries(value).reduce((text, [key, inner]) => `${text}\n  ${key}: ${formatFlow(inner, quote)}`, '')
      : ` ${formatFlow(value, quote)}`
  const rows = Object.entries(settings).map(([key, value]) => `# ${COMMENTS[key]}\n${key}:${format(value)}\n`)
  return rows.join('\n')
}

/** Writes settings as the literal that `open()` takes in JavaScript. */
export function formatLiteral(settings: ConfigInput): string {
  const quote = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const rows = Object.entries(settings).map(
    ([key, value]) => `  // ${COMMENTS[key]}\n  ${key}: ${formatFlow(value, quote)},\n`,
  )
  return `{\n${rows.join('')}}`
}

/** Texts that YAML reads as such without quotes. */
const PLAIN = /^[a-z\d][\w./:-]*[\w/]$/i

function formatFlow(value: unknown, quote: (text: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((inner) => formatFlow(inner, quote)).join(', ')}]`
  if (typeof value === 'string') return quote(value)
  if (!isRecord(value)) return String(value)
  const members = Object.entries(value).map(([key, inner]) => `${key}: ${formatFlow(inner, quote)}`)
  return `{ ${members.join(', ')} }`
}
