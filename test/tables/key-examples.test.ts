import { isDeepStrictEqual } from 'node:util'
import { ConfigError, readConfigFrom } from '@sallyport/engine'
import t from 'tap'
import { keyTable } from './key-table.ts'
import { variableTable } from './variable-table.ts'

/* The documents' examples are usable: all together as one file, and each as a variable. */

type Tree = Record<string, unknown>

const NAME = 'tor-bulk-exit'

function composeTree(keys: (key: string) => boolean): Tree {
  const whole: Tree = {}
  for (const { key, example } of keyTable().filter((row) => keys(row.key))) {
    const steps = key.replaceAll('[]', '.0').replaceAll('<id>', NAME).split('.')
    let at = whole
    for (const [index, step] of steps.entries()) {
      at[step] = index === steps.length - 1 ? example : (at[step] ?? (steps[index + 1] === '0' ? [] : {}))
      at = at[step] as Tree
    }
  }
  return whole
}

function listFaults(written: Tree): readonly string[] {
  // Secrets are examples of files, which are not here.
  const text = JSON.stringify(written).replace(/"file:\/run[^"]*/g, `"${'abcdefgh'.repeat(5)}`)
  try {
    const { config } = readConfigFrom({ flags: JSON.parse(text) })
    // Workers that replace others are handed it as it is in force.
    const crossed = readConfigFrom({ flags: JSON.parse(JSON.stringify(config)) }).config
    const isSame = isDeepStrictEqual(JSON.parse(JSON.stringify(crossed)), JSON.parse(JSON.stringify(config)))
    return isSame ? [] : ['it is another one after it has crossed to another process']
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map(({ key = '', message }) => `${key}: ${message}`)
  }
}

/** Lists the faults of a configuration with one rule that asks, changed by `more`. */
function listRuleFaults(more: Tree): readonly string[] {
  return listFaults({ policy: { rules: [{ id: 'ask', match: {}, action: 'challenge', ...more }] } })
}

function makeExample(map: string): Tree {
  return Object.fromEntries(
    keyTable().flatMap(({ key, example }) => (key.startsWith(map) ? [[key.slice(map.length), example]] : [])),
  )
}

/** Keys that are not together with others beside them. */
const APART =
  /^(policy\.rules\[\]\.(match\.(event|mail|account)|limit\.share|concurrent|status|then|to|weight|challenge\..*|offer\..*)|lists\.<id>\.(file|crowdsec|key|pull))$/

t.test('the words of a match have one row each, and its negation has one for all of them', async (t) => {
  const keys = keyTable().map(({ key }) => key)
  t.ok(keys.includes('policy.rules[].match.header.present'))
  const negations = keys.filter((key) => key.startsWith('policy.rules[].match.not'))
  t.same(negations, ['policy.rules[].match.not'])
})

t.test('the examples of all keys are together a usable configuration', async (t) => {
  t.same(listFaults(composeTree((key) => !APART.test(key))), [])
})

t.test('and so are those that are not together with others of a rule', async (t) => {
  const isRule = (key: string) => /^policy\.rules\[\]\.(id|match|action|unknown)/.test(key) && !APART.test(key)
  const rule = makeExample('policy.rules[].')
  const { event, mail, account } = makeExample('policy.rules[].match.')
  const { share } = makeExample('policy.rules[].limit.')
  const limit = { key: 'client', max: 9, window: '1h', count: 'failure', share }
  const offering = composeTree((key) => key.startsWith('policy.rules[].offer.'))['policy'] as { rules: readonly Tree[] }
  const faults = [
    listRuleFaults({ match: { event, mail, account }, limit }),
    listRuleFaults({ challenge: makeExample('policy.rules[].challenge.') }),
    listRuleFaults({ action: 'redirect', to: rule['to'] }),
    listRuleFaults({ action: 'offer', ...offering.rules[0] }),
    listFaults(composeTree((key) => isRule(key) || key.endsWith('].concurrent'))),
    listFaults(composeTree((key) => isRule(key) || /\.limit\.(?!share)/.test(key) || key.endsWith('].then'))),
  ]
  t.same(faults.flat(), [])
})

t.test('the examples of all variables are together a usable configuration, and each is read', async (t) => {
  const rows = variableTable()
  const written = rows.map(({ name, example }) => [name, example.replace(/^file:.*/, 'abcdefgh'.repeat(5))] as const)
  const { config } = readConfigFrom({ env: { ...Object.fromEntries(written), SALLYPORT_TLS_CERTIFICATES: undefined } })
  const settingAt = (key: string) =>
    key.split('.').reduce<unknown>((value, step) => (value as Tree | undefined)?.[step], config)
  const unread = rows.flatMap(({ key, name }) => (key !== undefined && settingAt(key) === undefined ? name : []))
  t.same(unread, [])
})

t.test('every key is taken over by a reload, or after a restart, by its row in the schema', async (t) => {
  const live = new Set(keyTable().flatMap((row) => (row.live ? [/^\w+/.exec(row.key)?.[0]] : [])))
  for (const key of ['limits', 'lists', 'mode', 'policy', 'routes', 'tls', 'trustProxy']) t.ok(live.has(key), key)
  for (const key of ['dataDir', 'listen', 'redis', 'store']) t.notOk(live.has(key), key)
  const restart = keyTable().filter((row) => !row.live && /^(tls|limits|timeouts)\./.test(row.key))
  t.same(restart.map(({ key }) => key).sort(), ['timeouts.counting', 'tls.http2'])
})
