import { isRecord } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import type { Choice } from '../terminal/ask.ts'

/** What is protected, and by which policy. */
interface Protection extends Choice {
  readonly preset: NonNullable<NonNullable<ConfigInput['policy']>['preset']>
  readonly limits: NonNullable<NonNullable<ConfigInput['policy']>['limits']>
}

export const PROTECTIONS = [
  {
    name: 'site',
    about: 'pages and articles: blocks training crawlers, challenges programs that pose as browsers',
    preset: 'protect-content',
    limits: [],
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
] as const satisfies readonly Protection[]

/** A setting, and the comment that explains it. */
export interface Setting {
  readonly key: string
  readonly value: unknown
  readonly comment: string
}

/** The settings of an application, in the order in which they are written. */
export function listSettings(protect: string, front: readonly string[], dataDir?: string): readonly Setting[] {
  const { preset, limits } = PROTECTIONS.find(({ name }) => name === protect) ?? PROTECTIONS[0]
  return [
    {
      key: 'mode',
      value: 'monitor',
      comment: 'Decides and records, and refuses nobody; enforce puts the policy in force.',
    },
    {
      key: 'trustProxy',
      value: front,
      comment:
        front.length === 0
          ? 'Nothing stands in front: the client is the one that connects.'
          : 'What stands in front: its X-Forwarded-For names the client.',
    },
    {
      key: 'policy',
      value: { preset, ...(limits.length > 0 && { limits }), rules: [] },
      comment: 'Rules of your own go under rules, and are decided before those of the preset.',
    },
    ...(dataDir === undefined ? [] : [{ key: 'dataDir', value: dataDir, comment: 'Data, counts and stores.' }]),
  ]
}

/** Adds what the proxy needs. */
export function listProxySettings(target: string, settings: readonly Setting[]): readonly Setting[] {
  return [
    {
      key: 'listen',
      value: '127.0.0.1:8080',
      comment: 'Where the proxy takes requests; 0.0.0.0:80 opens it to the network.',
    },
    { key: 'upstream', value: target, comment: 'The server that answers them.' },
    ...settings,
    { key: 'watch', value: true, comment: 'A change of this file is taken over at once.' },
  ]
}

/** The values of settings, as `open()` takes them. */
export function settingValues(settings: readonly Setting[]): ConfigInput {
  return Object.fromEntries(settings.map(({ key, value }) => [key, value]))
}

/** Returns the text of a configuration file. */
export function formatYaml(settings: readonly Setting[]): string {
  const quote = (text: string) => (PLAIN.test(text) ? text : JSON.stringify(text))
  const format = (value: unknown): string =>
    isRecord(value)
      ? Object.entries(value).reduce((text, [key, inner]) => `${text}\n  ${key}: ${formatFlow(inner, quote)}`, '')
      : ` ${formatFlow(value, quote)}`
  return settings.map(({ key, value, comment }) => `# ${comment}\n${key}:${format(value)}\n`).join('\n')
}

/** Returns the literal that `open()` takes in JavaScript. */
export function formatLiteral(settings: readonly Setting[]): string {
  const quote = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const rows = settings.map(({ key, value, comment }) => `  // ${comment}\n  ${key}: ${formatFlow(value, quote)},\n`)
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
