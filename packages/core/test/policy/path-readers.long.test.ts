import t from 'tap'
import { type Inspection, readPath } from '../../src/index.ts'
import { compileMatch } from '../../src/policy/compile/compile-match.ts'
import { Asked } from '../../src/policy/language/asked.ts'
import { createOnce } from '../../src/policy/words/match-word.ts'
import { splitWords } from '../support.ts'

/*
 * Readings of a target by servers before they route it. A rule that blocks a path must match whatever any of them takes
 * for that path, and a rule that allows one must not match what any of them takes for another.
 */
const decode = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
const beforeQuery = (target: string): string => target.split('?', 1)[0] as string
const withoutParameters = (path: string): string => path.replace(/;[^/]*/g, '')
const fold = (path: string): string => path.replace(/\/+/g, '/')
const slashes = (path: string): string => path.replaceAll('\\', '/')
const shorten = (bytes: string): string =>
  String.fromCharCode(((bytes.charCodeAt(0) & 1) << 6) | (bytes.charCodeAt(1) & 0x3f))
const overlong = (path: string): string => path.replace(/[\xc0\xc1][\x80-\xbf]/g, shorten)
const resolve = (path: string): string =>
  new URL(`http://h/${path.replace(/[^/\w.;-]/g, '_')}`).pathname.slice(1) || '/'

const pathname = (target: string): string =>
  URL.canParse(target, 'http://h') ? new URL(target, 'http://h').pathname : ''

const READERS: Readonly<Record<string, (target: string) => string>> = {
  'a server that compares what came': (target) => beforeQuery(target),
  'WHATWG URL': (target) => pathname(target),
  'WHATWG URL, then decoded': (target) => decode(pathname(target)),
  'Express: no dots, decoded by segment': (target) => beforeQuery(target.split('#', 1)[0] as string),
  'a router that decodes first': (target) => decode(beforeQuery(target)),
  'a router that ends a path at a semicolon': (target) => decode(beforeQuery(target).split(';', 1)[0] as string),
  'nginx: decoded, folded, dots resolved': (target) => resolve(fold(decode(beforeQuery(target)))),
  'a servlet container: parameters dropped, decoded, dots resolved': (target) =>
    resolve(fold(decode(withoutParameters(beforeQuery(target))))),
  'a servlet container that decodes first': (target) => resolve(fold(withoutParameters(decode(beforeQuery(target))))),
  'a server behind another, which decodes again': (target) => resolve(decode(decode(beforeQuery(target)))),
  'Windows: backslashes, decoded twice': (target) => resolve(fold(slashes(decode(decode(beforeQuery(target)))))),
  'a server that takes overlong UTF-8': (target) => resolve(fold(overlong(decode(beforeQuery(target))))),
  'a program that reads up to NUL': (target) => resolve(decode(beforeQuery(target)).split('\0', 1)[0] as string),
  'a server that cuts the query after decoding': (target) => resolve(beforeQuery(decode(target))),
}

const isUnder = (path: string, folder: string): boolean => {
  const lower = path.toLowerCase()
  return lower === folder || lower.startsWith(`${folder}/`)
}

const within = (action: 'allow' | 'block') => ({ id: 'x', action, surroundings: {}, once: createOnce() })
const [blocks] = compileMatch({ path: ['/admin', '/admin/**'] }, within('block')).request
const [allows] = compileMatch({ path: ['/public/**'] }, within('allow')).request

function judge(target: string): { readonly blocked: boolean; readonly allowed: boolean } {
  const inspection = { request: { method: 'GET', ...readPath(target) } } as Inspection
  return {
    blocked: blocks?.(inspection, new Asked({})) === true,
    allowed: allows?.(inspection, new Asked({})) === true,
  }
}

function bypassed(target: string): readonly string[] {
  const { blocked, allowed } = judge(target)
  return Object.entries(READERS).flatMap(([reader, read]) => {
    const path = read(target)
    if (isUnder(path, '/admin') && !blocked) return [`${target}: not blocked, but /admin to ${reader}`]
    if (path !== '' && !isUnder(path, '/public') && allowed) return [`${target}: allowed, but ${path} to ${reader}`]
    return []
  })
}

const PIECES = splitWords(`
  admin ADMIN %61dmin %2561dmin adm%69n public x / // %2f %2F %252f %5c \\ %255c . .. %2e%2e .%2e %252e%252e ..; ..;a=b
  ; ;x %3b %253b # ? %23 %3f %00 % %zz %41 %C1%A1dmin %C0%AF /./ %2e/ \u00e9
`)

t.test('no spelling of three pieces gets past a rule', async (t) => {
  const found: string[] = []
  for (const first of PIECES) {
    for (const second of PIECES) for (const third of PIECES) found.push(...bypassed(`/${first}${second}${third}`))
  }
  t.same(found.slice(0, 20), [])
})

t.test('the spellings that were found', async (t) => {
  const targets = splitWords(`
    /admin/delete/..%2f..%2fpublic /admin/../public /admin/%2e%2e /admin/%5c..%5cpublic /admin;x /;/admin
    /public/..;/admin /%2561dmin /public/%2e%2e/admin /ADMIN/..%252fpublic /admin%3fx //admin /./admin /%2e/admin
    /x/%C0%AE%C0%AE%C0%AFadmin /%C1%A1dmin http://site.example/admin HTTP://site.example//admin
    https://site.example/%2e/%61dmin
  `)
  for (const target of targets) t.same(judge(target), { blocked: true, allowed: false }, target)
  // A path that every server reads alike is allowed.
  for (const target of ['/public/a', '/public/caf%C3%A9', '/public/a+b=(c)', '/public/a%20b'])
    t.ok(judge(target).allowed, target)
})
