import { LIST_FORMATS } from '@sallyport/core'
import { z } from 'zod'
import { HTTP, key, LIVE, SECRET, time } from '#settings'

const format = key(
  z.enum(LIST_FORMATS).default('auto'),
  'Format of the list: an entry a line, CSV with a column of entries, or JSON; auto recognises them',
  'csv',
)

const wide = key(
  z.boolean().default(false),
  'Whether the list takes prefixes shorter than /8 (IPv6 /16), internal addresses and patterns of any text, which it leaves out otherwise',
  true,
)

const OfFile = z.strictObject({
  file: key(
    z.string().min(1),
    'File of the list, read again when it changes; absent: url has it',
    '/etc/sallyport/partners.txt',
  ),
  format,
  wide,
})

/** One row of the documentation stands for both kinds of lists, with the values of CrowdSec. */
const refresh = (initial: string, least: string) =>
  time(
    initial,
    [least, '30d'],
    'Age at which the bans of CrowdSec are fetched again, or a copy of url, for which it is 1m or more, and 1h by default',
    '6h',
  )

const OfUrl = z.strictObject({
  url: key(
    z.url(HTTP),
    'URL of the list, of which the last good copy is kept in dataDir; absent: file has it',
    'https://lists.example/badbots.txt',
  ),
  refresh: refresh('1h', '1m'),
  format,
  wide,
})

const OfCrowdsec = z.strictObject({
  crowdsec: key(
    z.url(HTTP),
    'URL of the local API of CrowdSec, whose bans of addresses and ranges are the list; absent: file or url has it',
    'http://127.0.0.1:8080',
  ),
  key: key(
    z.string().regex(/^[\x21-\x7e]{1,512}$/, 'must be a key without spaces'),
    'Key of a bouncer in CrowdSec, for this machine only; absent: file or url has the list',
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
    'must be a list of entries, or have one of file, url and crowdsec with its key',
  ),
)

/** Keys of lists. */
export const keys = {
  lists: Lists.default({}).meta({
    description: 'Lists by names, which policies call list:NAME: a file, a url, or the entries themselves',
    ...LIVE,
  }),
}
