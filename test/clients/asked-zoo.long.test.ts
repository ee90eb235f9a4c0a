import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { FIREFOX, missing, missingFiles, run, start, WEBKIT, XVFB } from './programs.ts'
import { NO_OPENSSL, openSite, type Site } from './site.ts'

/* Real browsers, which no driver controls, meet pages that ask at each level: with script, by the refresh, and by the link. */

/** Seconds that each level makes a visitor wait who runs no script. */
const WAITS = { 1: 1, 2: 8, 3: 32 } as const
const LEVELS = [1, 2, 3] as const

/** Describes a browser with a window and how the test starts it. */
interface Windowed {
  readonly name: string
  readonly program: string
  prepare?: ((home: string) => void) | undefined
  args(home: string, url: string): readonly string[]
  /** Why it cannot be started here. */
  readonly absent?: string | false | undefined
  /** Resolves once what it keeps in its home says that it is as its name says. */
  check?: ((home: string) => Promise<void>) | undefined
  /** It shows a refresh as a link; that is opened in another window. */
  readonly byLink?: boolean | undefined
}

const EXTENSIONS = '/usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}'
const ADDONS = ['uBlock0@raymondhill.net', 'jid1-MnnxcxisBPnSXQ@jetpack'] as const

interface Addon {
  readonly id: string
  readonly active: boolean
}

/** Writes the preferences of a profile of Firefox. */
function writePreferences(home: string, more: Readonly<Record<string, unknown>> = {}): void {
  const off = { 'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false }
  const lines = Object.entries({ ...off, ...more }).map(([name, value]) => {
    return `user_pref("${name}", ${JSON.stringify(value)});`
  })
  mkdirSync(join(home, 'profile'))
  writeFileSync(join(home, 'profile', 'user.js'), lines.join('\n'))
}

const firefoxArgs = (home: string, url: string) =>
  [FIREFOX, '--headless', '--no-remote', '--profile'].concat(join(home, 'profile'), url)

const inWindow = (...program: readonly string[]) => ({
  args: (_home: string, url: string) => [XVFB, '-a', ...program, url],
})

const WINDOWED: readonly Windowed[] = [
  { name: 'Firefox', program: FIREFOX, prepare: writePreferences, args: firefoxArgs },
  {
    name: 'Firefox with uBlock Origin and Privacy Badger',
    program: FIREFOX,
    absent: !ADDONS.every((id) => existsSync(join(EXTENSIONS, id))) && 'there are no add-ons',
    prepare(home) {
      const on = { 'extensions.autoDisableScopes': 0, 'extensions.enabledScopes': 15 }
      const strict = { 'browser.contentblocking.category': 'strict', 'privacy.resistFingerprinting': true }
      writePreferences(home, { ...on, ...strict })
    },
    args: firefoxArgs,
    async check(home) {
      const file = join(home, 'profile', 'extensions.json')
      const isActive = (): boolean => {
        const { addons } = JSON.parse(readFileSync(file, 'utf8')) as { readonly addons: readonly Addon[] }
        return ADDONS.every((id) => addons.some((addon) => addon.id === id && addon.active))
      }
      while (!existsSync(file) || !isActive()) await after(100)
    },
  },
  { name: 'QtWebEngine', program: '/usr/bin/qutebrowser', ...inWindow('/usr/bin/qutebrowser', '--temp-basedir') },
  { name: 'WebKitGTK', program: WEBKIT, ...inWindow(WEBKIT, '--private') },
  { name: 'NetSurf', program: '/usr/bin/netsurf-gtk', ...inWindow('/usr/bin/netsurf-gtk') },
  {
    name: 'Dillo',
    program: '/usr/bin/dillo',
    prepare(home) {
      mkdirSync(join(home, '.dillo'))
      // As it comes it keeps no cookie of any site.
      writeFileSync(join(home, '.dillo', 'cookiesrc'), 'DEFAULT ACCEPT\n')
    },
    ...inWindow('/usr/bin/dillo'),
    byLink: true,
  },
]

for (const { name, program, absent, prepare, args, check, byLink } of WINDOWED) {
  t.test(name, { skip: absent || missingFiles(program, XVFB) || NO_OPENSSL }, async (t) => {
    for (const level of LEVELS) {
      const site = await openSite(t)
      prepare?.(site.home)
      const url = `${site.url}/asked/${level}`
      const windows = [start(t, site.home, args(site.home, url))]
      if (byLink === true) {
        while (site.decided.length === 0) await after(100)
        await after(WAITS[level] * 1000)
        windows.push(start(t, site.home, args(site.home, `${url}?sallyport-again=1`)))
      }
      await arrives(site, `/asked/${level}`)
      t.notOk(
        site.arrived.some(({ target }) => target.includes('sallyport-again')),
        'the origin sees the wanted URL alone',
      )
      await check?.(site.home)
      for (const close of windows) await close()
    }
  })
}

/** Resolves once the origin was asked for a target. */
async function arrives({ arrived }: Site, target: string): Promise<void> {
  while (!arrived.some((request) => request.target === target)) await after(100)
}

/** Browsers of the terminal, which show the link that is to be followed. */
const TERMINAL: readonly { readonly command: string; args(home: string, url: string): readonly string[] }[] = [
  {
    command: 'lynx',
    args(home, url) {
      writeFileSync(join(home, 'lynx.cfg'), 'PERSISTENT_COOKIES:TRUE\nACCEPT_ALL_COOKIES:TRUE\n')
      const jar = join(home, 'jar')
      return [`-cfg=${home}/lynx.cfg`, '-dump', `-cookie_file=${jar}`, `-cookie_save_file=${jar}`, url]
    },
  },
  { command: 'w3m', args: (_home, url) => ['-dump', '-o', 'use_cookie=1', '-o', 'accept_cookie=1', url] },
  { command: 'links2', args: (_home, url) => ['-dump', '-save-cookies', '1', url] },
]

for (const { command, args } of TERMINAL) {
  t.test(command, { skip: missing(command, '-version') || NO_OPENSSL }, async (t) => {
    // Level 3 differs by its 32 seconds alone.
    for (const level of [1, 2] as const) {
      const site = await openSite(t)
      const show = async (url: string): Promise<string> => {
        return (await run(site.home, command, args(site.home, url))).out.replace(/\s+/g, ' ')
      }
      const url = `${site.url}/asked/${level}`
      const mark = command === 'lynx' ? '\\[2\\]' : ''
      const wait = level === 1 ? '1 second' : '8 seconds'
      t.match(await show(url), new RegExp(`Waiting time: about ${wait}\\. .* stays open\\. ${mark}Open the page`))
      t.match(await show(`${url}?sallyport-again=1`), 'Waiting time: about', 'too early it is asked to wait')
      await after(WAITS[level] * 1000)
      t.match(await show(`${url}?sallyport-again=1`), 'Another page The second.')
      t.match(await show(url), 'Another page', 'once')
      t.match(site.arrived, [{ target: `/asked/${level}` }, { target: `/asked/${level}` }])
    }
  })
}

t.test('elinks keeps no cookie where it prints', { skip: missing('elinks', '-version') || NO_OPENSSL }, async (t) => {
  const { home, url, arrived } = await openSite(t)
  const show = async (target: string) => (await run(home, 'elinks', ['-dump', '1', target])).out.replace(/\s+/g, ' ')
  t.match(await show(`${url}/asked/1`), `Visible links 1. ${url}/asked/1?sallyport-again=1`)
  t.match(await show(`${url}/asked/1?sallyport-again=1`), 'Your browser does not accept the cookie')
  t.same(arrived, [])
})
