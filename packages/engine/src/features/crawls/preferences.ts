import { hash } from 'node:crypto'
import type { Document, RecordedPreference } from '@sallyport/ledger'

/** What a host asks of crawlers now, and the text that says so. */
export interface Stated {
  readonly preference: RecordedPreference
  readonly document?: Document | undefined
}

const MAX_HOSTS = 200

/** Reads the preferences of hosts out of their robots.txt: the file by its hash, Content-Usage (draft-ietf-aipref-attach) and the licence (RSL 1.0). */
export function createPreferences(robotsText: (host: string) => string | undefined): (host: string) => Stated {
  const known = new Map<string, { readonly text: string | undefined; readonly stated: Stated }>()
  return (host) => {
    const text = robotsText(host)
    const found = known.get(host)
    if (found !== undefined && found.text === text) return found.stated
    if (known.size >= MAX_HOSTS) known.clear()
    const stated = readPreference(host, text)
    known.set(host, { text, stated })
    return stated
  }
}

const LICENCE = /^[ \t]*license[ \t]*:[ \t]*(\S{1,500})/im
const USAGE = /^[ \t]*content-usage[ \t]*:[ \t]*([^\r\n#]{1,200})/gim

function readPreference(host: string, text: string | undefined): Stated {
  if (text === undefined) return { preference: { host } }
  const document = { sha256: hash('sha256', text), text }
  const [, licence] = LICENCE.exec(text) ?? []
  const usages = [...text.matchAll(USAGE)].slice(0, 20).map(([, usage = '']) => usage.trim())
  return {
    document,
    preference: {
      host,
      robotsSha256: document.sha256,
      ...(licence === undefined ? {} : { licence }),
      ...(usages.length === 0 ? {} : { contentUsage: [...new Set(usages)].join(', ') }),
    },
  }
}
