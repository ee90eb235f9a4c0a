import type { WhoisField } from '@sallyport/data/whois-formats'
import type { DateOrder } from './date-order.ts'
import { parseWhoisDate } from './dates.ts'
import { hostsIn, isAddressLike } from './values.ts'

/** Characters; what is longer is no date and no list of servers on one line. */
const MAX_VALUE = 200

/** Stems of words in the languages of registries, for labels that no table holds; a space stands for the end of a word (D169). */
const STEMS: readonly (readonly [field: WhoisField, stems: readonly string[]])[] = [
  [
    'expiresOn',
    [
      'expir',
      'renew',
      'valid',
      'paid',
      ' due ',
      ' end ',
      ' until ',
      'venc',
      'caduc',
      'scaden',
      'ablauf',
      'verl',
      'échéance',
    ],
  ],
  ['lastUpdated', ['updat', 'modif', 'chang', 'aktuali', 'actuali', 'atualiz', 'ander', 'änder', 'edited', ' last ']],
  [
    'registeredOn',
    [
      'creat',
      'regist',
      'activat',
      'assign',
      'allocat',
      'start',
      'begin',
      ' added ',
      ' alta ',
      'criad',
      'cread',
      'erstellt',
      'enregistr',
      'commenc',
      'since',
    ],
  ],
]

/** Dates of other things: of a person's record, of a transfer, of the database. */
const OF_OTHERS = [
  'database',
  'whois',
  'contact',
  'person',
  'handle',
  'transfer',
  'abuse',
  'contract',
  'trademark',
  'query',
  'dnssec',
  'key',
  ' ds ',
]
const SERVER = [
  'name server',
  'nameserver',
  'nserver',
  ' dns ',
  ' ns ',
  'host name',
  'hostname',
  ' server ',
  ' servers ',
]
const NO_SERVER = ['whois', 'registrar', 'referral', 'mail', 'url', 'web']
const REGISTRAR = [' registrar ', ' registrador ', ' registrado por ']
/** In labels about a registrar that are not followed by its name. */
const NO_NAME = [
  'url',
  'web',
  'www',
  'whois',
  'iana',
  ' id ',
  'abuse',
  'mail',
  'phone',
  'tel',
  'fax',
  'street',
  'address',
  'city',
  'state',
  'province',
  'postal',
  'zip',
  'country',
  'server',
  'tech',
  'admin',
  'handle',
  'customer',
  'contact',
  'date',
  'creat',
  'updat',
  'modif',
  'expir',
  'lock',
  'referral',
  'dnssec',
  'status',
  'type',
  'code',
]

/**
 * The field of a label that no table holds: a word of it names a date and a date follows, or it names a server and a hostname
 * follows and nothing else, or it names the registrar. Of dates and servers a label alone decides nothing.
 */
export function guessedField(label: string, value: string, order: DateOrder): WhoisField | undefined {
  if (label === '' || value === '' || value.length > MAX_VALUE) return undefined
  const words = ` ${label} `
  const has = (stems: readonly string[]) => stems.some((stem) => words.includes(stem))
  if (has(SERVER) && !has(NO_SERVER) && areServers(value)) return 'nameservers'
  if (has(REGISTRAR) && !has(NO_NAME)) return /^[^\d:/@]{2}/.test(value) ? 'registrar' : undefined
  if (has(OF_OTHERS) || !/^\W?\d|^[a-z]{3,9}[ .-]\d/i.test(value)) return undefined
  const field = STEMS.find(([, stems]) => has(stems))?.[0]
  return field !== undefined && parseWhoisDate(value, order) !== undefined ? field : undefined
}

/** Whether a value is a server's name, or several, and addresses. */
function areServers(value: string): boolean {
  const [name = '', ...rest] = value.split(/[\s,;]+/)
  return hostsIn(name).length === 1 && rest.every((word) => isAddressLike(word) || hostsIn(word).length === 1)
}
