import { LIST_FORMATS } from '@sallyport/core'
import { z } from 'zod'
import { HTTP, key, LIVE, SECRET, time } from '#settings'

const format = key(
  z.enum(LIST_FORMATS).default('auto'),
  'Format: one entry per line, CSV with a column of entries, or JSON',
  'csv',
)

const wide = key(
  z.boolean().default(false),
  'Whether the list accepts prefixes shorter than /8 (IPv6 /16), internal addresses and patterns that match any text',
  true,
)

export const OfFile = z.strictObject({
  file: key(
    z.string().min(1),
    'File of the list, reread on change; absent: set url or crowdsec',
    '/etc/sallyport/partners.txt',
  ),
  format,
  wide,
})

/** One row of the documentation describes both kinds of lists, with the values of CrowdSec. */
const refresh = (initial: string, least: string) =>
  time(initial, [least, '30d'], 'Interval between downloads; with url, at least 1m and by default 1h', '6h')

export const OfUrl = z.strictObject({
  url: key(
    z.url(HTTP),
    'URL of the list, whose last good copy is kept in dataDir; absent: set file or crowdsec',
    'https://lists.example/badbots.txt',
  ),
  refresh: refresh('1h', '1m'),
  format,
  wide,
})

export const OfCrowdsec = z.strictObject({
  crowdsec: key(
    z.url(HTTP),
    "URL of CrowdSec's local API, which supplies banned addresses and ranges; absent: set file or url",
    'http://127.0.0.1:8080',
  ),
  key: key(
    z.string().regex(/^[\x21-\x7e]{1,512}$/, 'must have no spaces'),
    'CrowdSec bouncer key, for this machine only; absent: set file or url',
    'file:/run/secrets/crowdsec-key',
    SECRET,
  ),
  refresh: refresh('10s', '1s'),
  wide,
})

const Lists = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/i, 'must be a name of letters, digits, - and _'),
  z.union(
    [z.array(z.string()), OfFile, OfUrl, OfCrowdsec],
    'must be a list of entries, or have file, url, or crowdsec with its key',
  ),
)

export const keys = {
  lists: Lists.default({}).meta({
    description: 'Lists by name, which policies use as list:NAME: a file, a URL, or entries',
    ...LIVE,
  }),
}
