import { parseWhoisDate } from './dates.ts'
import { isPrivacyName } from './labels.ts'
import { buildRecord, type WhoisFinding } from './record.ts'
import { hostsIn, parseStatuses, stripControls } from './values.ts'

/** Members of a list that are read. */
const MAX_MEMBERS = 64
const MAX_NAME_LENGTH = 200

/** Words of RFC 9083 section 10.2.2 that are an EPP code under another name (RFC 8056 section 2). */
const AS_EPP: ReadonlyMap<string, string> = new Map([['active', 'ok']])

/**
 * Reads an RDAP answer about one domain (RFC 9083 section 5.3). An answer about another domain, or one that is no
 * domain object, is `unreadable`.
 */
export function parseRdap(text: string, domain: string): WhoisFinding {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return { state: 'unreadable' }
  }
  const name = readText(member(answer, 'ldhName')).toLowerCase().replace(/\.$/, '')
  if (member(answer, 'objectClassName') !== 'domain' || name !== domain) return { state: 'unreadable' }
  const events = listMembers(answer, 'events')
  const readDate = (action: string) => {
    const event = events.find((one) => member(one, 'eventAction') === action)
    return parseWhoisDate(readText(member(event, 'eventDate')))
  }
  const servers = listMembers(answer, 'nameservers').flatMap((server) => hostsIn(readText(member(server, 'ldhName'))))
  const statuses = listMembers(answer, 'status').flatMap((word) => listStatus(readText(word)))
  const record = buildRecord({
    registrar: readName(findEntity(answer, 'registrar')),
    registeredOn: readDate('registration'),
    expiresOn: readDate('expiration'),
    lastUpdated: readDate('last changed'),
    nameservers: [...new Set(servers)],
    status: [...new Set(statuses)],
    privacyProtection: isPrivate(answer),
  })
  return { state: 'registered', record }
}

function listStatus(word: string): readonly string[] {
  return parseStatuses(AS_EPP.get(word.toLowerCase()) ?? word)
}

/** Whether the registrant is a privacy service, or the registry says that it redacted the name. */
function isPrivate(answer: unknown): boolean {
  const registrant = findEntity(answer, 'registrant')
  const names = [...vcardTexts(registrant, 'fn'), ...vcardTexts(registrant, 'org')]
  const remarks = listMembers(registrant, 'remarks').map((remark) => readText(member(remark, 'title')))
  // RFC 9537: redacted fields are listed by name, such as "Registrant Name".
  const redacted = listMembers(answer, 'redacted').map((field) => {
    const name = member(field, 'name')
    return readText(member(name, 'description')) || readText(member(name, 'type'))
  })
  return (
    [...names, ...remarks].some(isPrivacyName) ||
    redacted.some((name) => /^registrant (?:name|organi[sz]ation)$/i.test(name))
  )
}

function findEntity(answer: unknown, role: string): unknown {
  return listMembers(answer, 'entities').find((entity) => listMembers(entity, 'roles').includes(role))
}

function readName(entity: unknown): string | undefined {
  return vcardTexts(entity, 'fn')[0] ?? vcardTexts(entity, 'org')[0]
}

/** Values of one property of a jCard (RFC 7095): `["vcard", [["fn", {}, "text", "Example, Inc."], …]]`. */
function vcardTexts(entity: unknown, property: string): readonly string[] {
  return readList(listMembers(entity, 'vcardArray')[1])
    .map(readList)
    .filter(([name]) => name === property)
    .map((row) => readText(Array.isArray(row[3]) ? row[3][0] : row[3]))
    .filter((text) => text !== '')
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function listMembers(value: unknown, name: string): readonly unknown[] {
  return readList(member(value, name))
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_MEMBERS) : []
}

function readText(value: unknown): string {
  return typeof value === 'string' ? stripControls(value.slice(0, MAX_NAME_LENGTH)).replace(/\s+/g, ' ').trim() : ''
}
