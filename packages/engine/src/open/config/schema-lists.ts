import { LIST_FORMATS } from '@sallyport/core'
import { z } from 'zod'
import { key } from './key.ts'
import { time } from './limits.ts'
import { HTTP } from './schema-edge.ts'

const format = key(
  z.enum(LIST_FORMATS).default('auto'),
  'Form of the list: an entry a line, CSV with a column of entries, or JSON; auto tells them by their beginning',
  'csv',
)

const OfFile = z.strictObject({
  file: key(
    z.string().min(1),
    'File of the list, read again when it changes; absent: url has it',
    '/etc/sallyport/partners.txt',
  ),
  format,
})

const OfUrl = z.strictObject({
  url: key(
    z.url(HTTP),
    'URL of the list, of which the last good copy is kept in dataDir; absent: file has it',
    'https://lists.example/badbots.txt',
  ),
  refresh: time('1h', ['1m', '30d'], 'Age at which a copy of url is fetched again', '6h'),
  format,
})

/** Lists by names, which policies call `list:NAME`. */
export const Lists = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/i, 'must be a name of letters, digits, - and _'),
  z.union([z.array(z.string()), OfFile, OfUrl], 'must be a list of entries, or have a file or a url, and not both'),
)
