import { SIGNALS } from '@sallyport/core/testing'
import t from 'tap'
import {
  ALTERATIONS,
  browserSets,
  createSetJudge,
  isCopy,
  NETWORKS,
  type Network,
  programSets,
} from '../accuracy/sets.ts'

/* The weights of the signs against recorded requests: no browser is misclassified as a program, and the signs are as frequent as they were. */
const judge = createSetJudge()
const networks = Object.keys(NETWORKS) as Network[]

/** An application that hides its WebView from Android's download manager, for a file without an ending: Python's urllib writes the same. */
const INDISTINCT = 'DownloadManager under the name of Via, a browser /download?id=3'

/** Counts how many of the 669 requests of browsers and of the 161 of programs with a browser's user agent show each sign. */
const SEEN = {
  'chromium-version': [0, 0],
  platform: [0, 0],
  'foreign-hints': [0, 0],
  'phone-hint': [0, 0],
  'partial-fetch-metadata': [0, 5],
  'impossible-fetch-metadata': [0, 2],
  'document-accepts-anything': [0, 0],
  'ja4-family': [0, 161],
  'h2-order': [0, 28],
  'h2-settings': [0, 0],
  'ja4-inspected': [0, 0],
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
  'foreign-order': [0, 0],
  'unknown-product': [15, 0],
  'no-user-agent': [0, 0],
  'hints-agree': [48, 24],
  'fetch-metadata-agrees': [529, 22],
  'speaks-a-language': [539, 119],
}

t.test('no recorded browser is taken for a program, from any network', async (t) => {
  const accused = new Set<string>()
  for (const set of browserSets()) {
    for (const network of networks) {
      for (const through of ['proxy', 'nothing'] as const) {
        const { class: name, reasons } = judge(set, network, through)
        const signs = reasons.map(({ id }) => id).join(', ')
        if (name === 'unverified_bot' && `${set.client} ${set.target}` !== INDISTINCT) {
          accused.add(`${set.client} ${set.method} ${set.target}, ${network}, through ${through}: ${signs}`)
        }
      }
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
      for (const network of ['residential_clean', 'mobile'] as const) {
        const altered = { ...set, headers: alter(set.headers) }
        if (judge(altered, network, 'proxy').class !== 'human') accused.add(`${what}: ${set.client} ${set.target}`)
      }
    }
  }
  t.same([...accused], [])
})

t.test('each sign is as frequent as it was', async (t) => {
  const count = (sets: Parameters<typeof judge>[0][]) => {
    const seen = new Map<string, number>()
    for (const set of sets) {
      for (const { id } of judge(set, 'residential_clean', 'nothing').reasons) seen.set(id, (seen.get(id) ?? 0) + 1)
    }
    return seen
  }
  const [all, copies] = [browserSets(), programSets().filter(isCopy)]
  t.equal(all.length, 669)
  t.equal(copies.length, 161)
  const [browsers, programs] = [count([...all]), count([...copies])]
  const found = SIGNALS.map(({ id }) => [id, [browsers.get(id) ?? 0, programs.get(id) ?? 0]])
  t.same(Object.fromEntries(found), SEEN)
})
