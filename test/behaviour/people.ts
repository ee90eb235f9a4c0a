import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missing, run } from '../clients/programs.ts'
import { type Blocked, ENGINES, type Session } from './browsers.ts'
import { PAGES, type SiteKind } from './sites.ts'
import type { Urls } from './stage.ts'

/** One way in which people read a site. */
export interface Person {
  readonly name: string
  readonly missing: string | false
  visit(urls: Urls, site: SiteKind): Promise<void>
}

type Read = (session: Session, page: (number: number) => string) => Promise<void>

/** Reads ten pages by links, goes back and on, opens two tabs and comes back to the first page. */
const reads: Read = async (session, page) => {
  await session.go(page(0))
  for (const number of [1, 18, 19]) await session.follow(page(number))
  await session.move(-1)
  await session.move(1)
  for (const number of [48, 49, 66]) await session.follow(page(number))
  await session.tab(page(95))
  await session.tab(page(96))
  await session.go(page(0))
  await session.follow(page(1))
}

const twice: Read = async (session, page) => {
  await reads(session, page)
  await reads(session, page)
}

const opensTabs: Read = async (session, page) => {
  await session.go(page(0))
  for (let number = 1; number <= 30; number++) await session.tab(page((number * 7) % PAGES))
}

const WAYS: readonly (readonly [name: string, blocked: Blocked, read: Read])[] = [
  ['cold, then warm', 'nothing', twice],
  ['no images', 'images', reads],
  ['no scripts', 'scripts', reads],
  ['30 tabs', 'nothing', opensTabs],
]

const BROWSING = ENGINES.flatMap((engine) =>
  WAYS.filter(([, blocked]) => blocked === 'nothing' || engine.name !== 'WebKitGTK').map(
    ([name, blocked, read]): Person => ({
      name: `${engine.name}, ${name}`,
      missing: engine.missing,
      async visit({ plain }, site) {
        const session = await engine.open(blocked)
        try {
          await read(session, (number) => `${plain}${site.page(number)}`)
        } finally {
          await session.close()
        }
      },
    }),
  ),
)

/** So many pages are read in a browser without pictures. */
const TEXT_PAGES = 12

/** A program of the machine, in a home that it keeps for the whole visit; it opens one page each time, or all of a file. */
function program(
  name: string,
  command: string,
  args: (url: string, home: string) => readonly string[],
  listUrls: (urls: Urls, site: SiteKind) => readonly string[],
  flag?: string,
): Person {
  return {
    name,
    missing: missing(command, flag),
    async visit(urls, site) {
      const home = mkdtempSync(join(tmpdir(), 'sallyport-reader-'))
      for (const url of listUrls(urls, site)) await run(home, command, args(url, home))
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const textUrls = ({ plain }: Urls, site: SiteKind): readonly string[] =>
  Array.from({ length: TEXT_PAGES }, (_, at) => `${plain}${site.page(at * 11)}`)

/** Keys of lynx: it goes from one page to the next, and leaves. */
function lynxKeys(home: string, urls: readonly string[]): string {
  const file = join(home, 'keys')
  const keys = urls.flatMap((url) => ['g', ...url, '^J'])
  writeFileSync(file, [...keys, 'q', 'y'].map((key) => `key ${key}`).join('\n'))
  return file
}

export const PEOPLE: readonly Person[] = [
  ...BROWSING,
  program(
    'lynx',
    'lynx',
    (urls, home) => ['-accept_all_cookies', `-cmd_script=${lynxKeys(home, urls.split(' '))}`, urls.split(' ')[0] ?? ''],
    (urls, site) => [textUrls(urls, site).join(' ')],
  ),
  program('w3m', 'w3m', (url) => ['-cookie', '-o', 'accept_cookie=1', '-dump', url], textUrls, '-version'),
  program('links2', 'links2', (url) => ['-dump', url], textUrls, '-version'),
  program(
    'newsboat, a feed',
    'newsboat',
    (url, home) => {
      writeFileSync(join(home, 'urls'), url)
      return ['-u', join(home, 'urls'), '-c', join(home, 'cache'), '-x', 'reload']
    },
    ({ plain }) => Array(6).fill(`${plain}/rss.xml`),
    '-v',
  ),
]
