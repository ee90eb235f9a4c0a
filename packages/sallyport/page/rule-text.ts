const SUBJECTS: Readonly<Record<string, string>> = {
  networkClass: 'network',
  class: 'visitor',
  crawlerOutcome: 'crawler check',
  networkConfidence: 'network confidence',
  userAgent: 'user agent',
  headerValue: 'header',
  contentType: 'content type',
  httpVersion: 'HTTP version',
  asn: 'AS',
  ja4: 'JA4',
}

/** Subjects whose values are the service's own words; every other value is as it was written. */
const ENUMS: ReadonlySet<string> = new Set(['networkClass', 'class', 'crawlerOutcome'])

const VALUES: Readonly<Record<string, string>> = {
  human: 'a person',
  ai_agent: 'an AI agent',
  verified_crawler: 'a verified crawler',
  impostor: 'an impostor',
  unverified_bot: 'an unverified bot',
  residential_clean: 'a home line',
  residential_proxy: 'a residential proxy',
  vpn: 'VPN',
  tor: 'Tor',
}

/** `network is Tor or VPN, and path is /login`, from the `match` of a rule. */
export function matchInWords(match: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(match).map(([name, value]) =>
    name === 'not' && isMap(value)
      ? `not (${matchInWords(value)})`
      : typeof value === 'boolean'
        ? `${value ? '' : 'not '}${SUBJECTS[name] ?? name}`
        : `${SUBJECTS[name] ?? name} ${valueInWords(value, ENUMS.has(name) ? valueWord : String)}`,
  )
  return parts.length === 0 ? 'every request' : parts.join(', and ')
}

function valueInWords(value: unknown, shown: (name: string) => string): string {
  if (Array.isArray(value)) return `is ${value.map((one) => (one === '*' ? 'any' : shown(String(one)))).join(' or ')}`
  if (!isMap(value)) return `is ${shown(String(value))}`
  const { atLeast, atMost, ...others } = value
  const bounds = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`]
  const rest = Object.entries(others).map(([name, one]) =>
    name === 'absent' || name === 'present'
      ? `${[one].flat().join(' or ')} is ${name}`
      : `${name} ${valueInWords(one, shown)}`,
  )
  return [...bounds, ...rest].filter(Boolean).join(' and ')
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A rule of a policy as it is written, on one line. */
export function ruleFor(action: 'allow' | 'block', match: string, subject: string): string {
  const id = `${action}-${subject.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`.replace(/-$/, '')
  return `- { id: ${id}, match: { ${match} }, action: ${action} }`
}

/** The policy with the rule before all others. */
export function withRule(policy: string, rule: string): string {
  if (/^rules:\s*\[\s*\]\s*$/m.test(policy)) return policy.replace(/^rules:.*$/m, `rules:\n  ${rule}`)
  const [, indent = '  '] = /^rules:\s*\n(\s*)-/m.exec(policy) ?? []
  if (/^rules:\s*$/m.test(policy)) return policy.replace(/^rules:\s*$/m, `rules:\n${indent}${rule}`)
  return `${policy.trimEnd()}\nrules:\n  ${rule}\n`
}

function valueWord(name: string): string {
  return VALUES[name] ?? name.replaceAll('_', ' ')
}
