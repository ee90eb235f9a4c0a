import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CHROMIUM } from '../chromium.ts'
import { ROOT } from '../workspaces.ts'
import { WAYS } from './copied.ts'
import { commandDriver, type Driver, type Job, lineDriver, type Place, tabbed } from './drive.ts'

export interface Tool {
  readonly name: string
  /** `mimic`: it imitates the headers of a browser; `browser`: it is one, and runs scripts. */
  readonly kind: 'client' | 'mimic' | 'browser'
  /** A package of npm with its version, which the command installs; absent: the tool is the machine's. */
  readonly npm?: string | undefined
  /** It can be given a user agent and no other header. */
  readonly agentOnly?: true | undefined
  /** Resolves with the version of the tool; `undefined` where it is not installed. */
  version(place: Place): Promise<string | undefined>
  drive(place: Place): Driver | Promise<Driver>
}

const DRIVERS = join(ROOT, 'test/league/drivers')
const run = promisify(execFile)

/** The first number with a dot that a command prints; `undefined` where it fails. */
async function printed(command: string, ...args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await run(command, args)
    return /\d+\.[\d.]*\d/.exec(stdout + stderr)?.[0]
  } catch {
    return undefined
  }
}

function command(name: string, args: (job: Job, place: Place) => readonly string[], more: Partial<Tool> = {}): Tool {
  return {
    name,
    kind: 'client',
    version: () => printed(name, '--version'),
    drive: (place) => commandDriver(place, name, (job) => args(job, place)),
    ...more,
  }
}

function program(name: string, version: readonly [string, ...string[]], args: readonly string[]): Tool {
  return {
    name,
    kind: 'client',
    version: () => printed(...version),
    drive: (place) => lineDriver(place, version[0], args),
  }
}

/** Debian's Python has the packages of Debian; another one on the path has others. */
const PYTHON = '/usr/bin/python3'

function python(name: string): Tool {
  const prints = name === 'urllib' ? 'import sys; print(sys.version)' : `import ${name}; print(${name}.__version__)`
  return program(name, [PYTHON, '-c', prints], [join(DRIVERS, 'python.py'), name])
}

function npm(module: string, version: string, kind: Tool['kind'] = 'client'): Tool {
  return {
    name: module,
    kind,
    npm: `${module}@${version}`,
    version: async ({ project }) => installedVersion(project, module),
    drive: (place) => lineDriver(place, process.execPath, [join(place.project, 'node.mjs'), module]),
  }
}

function browser(name: string, driver: string, npm: string, more: Partial<Tool> = {}): Tool {
  const module = npm.replace(/@[^@]*$/, '')
  return {
    name,
    kind: 'browser',
    npm,
    version: async ({ project }) => (existsSync(CHROMIUM) ? installedVersion(project, module) : undefined),
    drive: (place) => {
      const argv = [join(place.project, 'browsers.mjs'), driver, CHROMIUM, join(place.folder, 'profiles')]
      return lineDriver(place, process.execPath, argv)
    },
    ...more,
  }
}

function installedVersion(project: string, module: string): string | undefined {
  const file = join(project, 'node_modules', module, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

const headerFlags = (flag: string, { headers }: Job): readonly string[] =>
  headers.flatMap(([name, value]) => [flag, `${name}: ${value}`])

/** The settings of the project's own script `curl_chrome116`, which the package of npm leaves out. */
const CHROME_116_CIPHERS =
  'TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256,ECDHE-ECDSA-AES128-GCM-SHA256,ECDHE-RSA-AES128-GCM-SHA256,ECDHE-ECDSA-AES256-GCM-SHA384,ECDHE-RSA-AES256-GCM-SHA384,ECDHE-ECDSA-CHACHA20-POLY1305,ECDHE-RSA-CHACHA20-POLY1305,ECDHE-RSA-AES128-SHA,ECDHE-RSA-AES256-SHA,AES128-GCM-SHA256,AES256-GCM-SHA384,AES128-SHA,AES256-SHA'
const CHROME_116_FLAGS =
  '--http2 --http2-no-server-push --compressed --tlsv1.2 --alps --tls-permute-extensions --cert-compression brotli'
const CHROME_116 = ['--ciphers', CHROME_116_CIPHERS, ...CHROME_116_FLAGS.split(' ')]
const CHROME_116_HEADERS = WAYS.all.map(
  ([name, value]) => [name, value.replaceAll('156', '116').replace(', zstd', '')] as const,
)

const impersonate = (project: string): string =>
  join(project, 'node_modules/node-curl-impersonate/bin/curl-impersonate-chrome-linux-x86')

const CURL_IMPERSONATE: Tool = {
  name: 'curl-impersonate',
  kind: 'mimic',
  npm: 'node-curl-impersonate@1.5.4',
  version: async ({ project }) => {
    // The package leaves out the permission.
    if (existsSync(impersonate(project))) chmodSync(impersonate(project), 0o755)
    return printed(impersonate(project), '--version')
  },
  drive: (place) =>
    commandDriver(place, impersonate(place.project), (job) => {
      const told = new Set(job.headers.map(([name]) => name.toLowerCase()))
      const kept = CHROME_116_HEADERS.filter(([name]) => !told.has(name.toLowerCase()))
      return curlArgs({ ...job, headers: [...kept, ...job.headers] }, ...CHROME_116)
    }),
}

function curlArgs(job: Job, ...more: readonly string[]): readonly string[] {
  return ['-s', '-k', ...more, ...headerFlags('-H', job), '-o', '/dev/null', `${job.base}/page/[1-${job.count}]`]
}

/** Writes the addresses of a job's pages, for tools that read a file of them. */
function writePages({ base, count }: Job, folder: string, name: string): string {
  const file = join(folder, name)
  writeFileSync(file, Array.from({ length: count }, (_, index) => `${base}/page/${index + 1}`).join('\n'))
  return file
}

/** Debian's; links beside them have the version in their names. */
const OKHTTP = ['okhttp', 'okio'].map((name) => `/usr/share/java/${name}.jar`)

async function okhttpVersion(): Promise<string | undefined> {
  if (!OKHTTP.every((path) => existsSync(path))) return undefined
  return /^okhttp-([\d.]+)\.jar$/m.exec(readdirSync('/usr/share/java').join('\n'))?.[1]
}

/** Makes a tool of Java, with a store that trusts the certificate. */
function java(name: string, file: string, version: Tool['version'], ...options: readonly string[]): Tool {
  return {
    name,
    kind: 'client',
    version,
    async drive(place) {
      const store = join(place.folder, 'trust.p12')
      const secret = ['-storepass', 'changeit']
      if (!existsSync(store))
        await run('keytool', ['-importcert', '-noprompt', '-file', place.ca, '-keystore', store, ...secret])
      const trust = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=changeit']
      return lineDriver(place, 'java', [...trust, ...options, join(DRIVERS, file)], tabbed)
    },
  }
}

/** From tools that say what they are to browsers that a program drives. */
export const TOOLS: readonly Tool[] = [
  command('curl', (job) => curlArgs(job)),
  command('wget', (job, { folder }) => [
    ...'-q --no-check-certificate -O /dev/null --tries=1 -i'.split(' '),
    writePages(job, folder, 'wget.txt'),
    ...headerFlags('--header', job),
  ]),
  // It takes a second for each of those that follow one another.
  command('aria2c', (job, { folder }) => [
    ...'-q --check-certificate=false --max-concurrent-downloads=20 --max-tries=1 --allow-overwrite=true -i'.split(' '),
    writePages(job, folder, 'aria2c.txt'),
    ...['-d', join(folder, 'aria2'), ...headerFlags('--header', job)],
  ]),
  ...['requests', 'httpx', 'aiohttp', 'urllib', 'scrapy'].map(python),
  {
    ...program('Go net/http', ['go', 'version'], []),
    drive: async (place) => {
      const built = join(place.folder, 'go-client')
      await run('go', ['build', '-o', built, join(DRIVERS, 'main.go')], { env: { ...process.env, GO111MODULE: 'off' } })
      return lineDriver(place, built, [])
    },
  },
  java('Java HttpClient', 'Client.java', () => printed('java', '-version')),
  java('okhttp', 'OkHttp.java', okhttpVersion, '-cp', OKHTTP.join(':')),
  program('Ruby net/http', ['ruby', '--version'], [join(DRIVERS, 'ruby.rb')]),
  program('Perl LWP', ['perl', '-MLWP', '-e', 'print LWP->VERSION'], [join(DRIVERS, 'perl.pl')]),
  program('PHP file_get_contents', ['php', '--version'], [join(DRIVERS, 'php.php'), 'stream']),
  program('PHP curl', ['php', '-r', 'echo curl_version()["version"];'], [join(DRIVERS, 'php.php'), 'curl']),
  program('node fetch', [process.execPath, '--version'], [join(DRIVERS, 'node.mjs'), 'fetch']),
  npm('undici', '7.30.2'),
  npm('node-fetch', '3.3.2'),
  npm('axios', '1.21.1'),
  npm('got', '14.6.6'),
  npm('needle', '3.5.0'),
  npm('got-scraping', '4.2.1', 'mimic'),
  npm('impit', '0.14.5', 'mimic'),
  CURL_IMPERSONATE,
  browser('headless Chromium', 'headless', 'puppeteer-core@24.43.1', {
    agentOnly: true,
    version: () => printed(CHROMIUM, '--version'),
  }),
  browser('Playwright', 'playwright', 'playwright-core@1.65.1'),
  browser('Puppeteer', 'puppeteer', 'puppeteer-core@24.43.1'),
  browser('patchright', 'patchright', 'patchright-core@1.63.0'),
]
