import { listVariables } from '@sallyport/engine'

const FURTHER_VARIABLES: Readonly<Record<string, readonly [example: string, description: string]>> = {
  SALLYPORT_MAXMIND_KEY: ['accountId:licenceKey', 'Key for MaxMind sources without a `key`; absent: none'],
  HTTPS_PROXY: [
    'http://user:password@proxy.internal:3128',
    'Proxy for feeds, lists, CrowdSec, webhooks, `challenge.provider` and `tls.acme`; absent: `ALL_PROXY`',
  ],
  ALL_PROXY: [
    'http://proxy.internal:3128',
    'Proxy for feeds, lists, CrowdSec, webhooks and `challenge.provider`; absent: none',
  ],
  NO_PROXY: ['lists.internal,.corp', 'Hosts that bypass the proxy; absent: none'],
  NODE_ENV: ['production', 'Environment; `production` forbids the `explain` option of a mount; absent: allowed'],
  NODE_TLS_REJECT_UNAUTHORIZED: ['1', 'Certificate verification; `0` disables it and all data downloads; absent: 1'],
}

interface VariableRow {
  readonly name: string
  /** Names the key of the configuration that the variable sets; absent for a variable without a key. */
  readonly key?: string | undefined
  readonly example: string
  readonly description: string
}

/** Writes an example as a variable holds it. For a map, which only a file can set, it takes one of the map's texts. */
function exampleText(example: unknown): string {
  if (Array.isArray(example)) return example.join(',')
  return String(typeof example === 'object' && example !== null ? Object.values(example)[0] : example)
}

/** Lists every variable that Sallyport reads: one for each key that holds a word, a number or a list of words, and a few more. */
export function variableTable(): readonly VariableRow[] {
  const ofKeys = listVariables().map(({ name, path, node: { example, description = '' } }) => ({
    name,
    key: path.join('.'),
    description,
    example: exampleText(example),
  }))
  const further = Object.entries(FURTHER_VARIABLES)
  return [...ofKeys, ...further.map(([name, [example, description]]) => ({ name, example, description }))]
}
