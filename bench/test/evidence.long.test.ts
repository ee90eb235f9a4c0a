import { SIGNALS } from '@sallyport/core/testing'
import t from 'tap'
import { ALTERATIONS, browserSets, createSetJudge, isCopy, NETWORKS, programSets } from '../accuracy/sets.ts'

/* The weights of the signs against recorded requests: no browser is misclassified as a program, and the signs are as frequent as they were. */
const judge = createSetJudge()
const networks = Object.keys(NETWORKS) as (keyof typeof NETWORKS)[]

/** An application that hides its WebView from Android's download manager, for a file without an ending: Python's urllib writes the same. */
const INDISTINCT = 'DownloadManager under the name of Via, a browser /download?id=3'

/** Counts how many of the 669 requests of browsers and of the 161 of programs with a browser's user agent show a sign; others show none. */
const SEEN = {
  'partial-fetch-metadata': [0, 5],
  'impossible-fetch-metadata': [0, 2],
  'ja4-family': [0, 161],
  'h2-order': [0, 28],
  'no-client-hints': [56, 115],
  'no-fetch-metadata': [6, 110],
  'no-fetch-metadata-of-application': [3, 0],
  'no-language': [95, 42],
  'accepts-anything': [10, 38],
  'no-compression': [9, 61],
  'old-http': [0, 7],
  'field-names': [7, 75],
  'no-upgrade-wish': [0, 91],
  'half-copied': [0, 44],
  'unknown-product': [15, 0],
  'hints-agree': [48, 24],
  'fetch-metadata-agrees': [529, 22],
  'speaks-a-language': [539, 119],
}

t.test('no recorded browser is taken for a program, from any network', async (t) => {
  const accused = new Set<string>()
  for (const set of browserSets()) {
    for (const network of networks) {
      const isProgram = (through: 'proxy' | 'nothing') => judge(set, network, through).class === 'unverified_bot'
      if ((isProgram('proxy') || isProgram('nothing')) && `${set.client} ${set.target}` !== INDISTINCT)
        accused.add(`${set.client} ${set.method} ${set.target}, ${network}`)
    }
  }
  t.same([...accused], [])
})

t.test('no single middlebox makes a program of a recorded browser at home', async (t) => {
  const accused = new Set<string>()
  // An engine in a program that sets no language lacks a field before any middlebox.
  const whole = browserSets().filter(({ source, client }) => source === undefined && !client.startsWith('QtWebEngine'))
  for (const set of whole) {
    for (const [what, { alter }] of Object.entries(ALTERATIONS)) {
      const altered = { ...set, headers: alter(set.headers) }
      const isHuman = (network: 'residential_clean' | 'mobile') => judge(altered, network, 'proxy').class === 'human'
      if (!isHuman('residential_clean') || !isHuman('mobile')) accused.add(`${what}: ${set.client} ${set.target}`)
    }
  }
  t.same([...accused], [])
})

t.test('each sign is as frequent as it was', async (t) => {
  const [browsers, programs] = [browserSets(), programSets().filter(isCopy)].map((sets) =>
    sets.map((set) => judge(set, 'residential_clean', 'nothing').reasons.map(({ id }) => id)),
  )
  t.same([browsers?.length, programs?.length], [669, 161])
  const count = (rows: typeof browsers, id: string) => rows?.flat().filter((one) => one === id).length
  const found = SIGNALS.map(({ id }) => [id, [count(browsers, id), count(programs, id)]] as const)
  t.same(Object.fromEntries(found.filter(([, counts]) => counts.join() !== '0,0')), SEEN)
})
