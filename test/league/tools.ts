import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CHROMIUM } from '../chromium.ts'
import { ROOT } from '../workspaces.ts'
import { WAYS } from './copied.ts'
import { commandDriver, type Driver, type Job, lineDriver, type Place, pageUrls, tabbed } from './drive.ts'

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

function program(
  name: string,
  version: readonly [string, ...string[]],
  args: (place: Place) => readonly string[],
): Tool {
  const [command] = version
  return {
    name,
    kind: 'client',
    version: () => printed(...version),
    drive: (place) => lineDriver(place, command, args(place)),
  }
}

/** Debian's Python has the packages of Debian; another one on the path has others. */
const PYTHON = '/usr/bin/python3'

function python(name: string): Tool {
  const prints = name === 'urllib' ? 'import sys; print(sys.version)' : `import ${name}; print(${name}.__version__)`
  return program(name, [PYTHON, '-c', prints], () => [join(DRIVERS, 'python.py'), name])
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
    drive: (place) =>
      lineDriver(place, process.execPath, [
        join(place.project, 'browsers.mjs'),
        driver,
        CHROMIUM,
        join(place.folder, 'profiles'),
      ]),
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

const IMPERSONATE = 'node-curl-impersonate'
const impersonate = (project: string): string =>
  join(project, 'node_modules', IMPERSONATE, 'bin/curl-impersonate-chrome-linux-x86')

const CURL_IMPERSONATE: Tool = {
  name: 'curl-impersonate',
  kind: 'mimic',
  npm: `${IMPERSONATE}@1.5.4`,
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
function writePages(job: Job, folder: string, name: string): string {
  const file = join(folder, name)
  writeFileSync(file, pageUrls(job).join('\n'))
  return file
}

/** Makes a store of Java's that trusts the certificate. */
async function javaTrust({ folder, ca }: Place): Promise<readonly string[]> {
  const store = join(folder, 'trust.p12')
  if (!existsSync(store)) {
    await run('keytool', ['-importcert', '-noprompt', '-file', ca, '-keystore', store, '-storepass', 'changeit'])
  }
  return [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=changeit']
}

/** Debian's; links beside them have the version in their names. */
const OKHTTP = ['okhttp', 'okio'].map((name) => `/usr/share/java/${name}.jar`)

function java(name: string, file: string, classes: readonly string[]): Tool {
  return {
    name,
    kind: 'client',
    version: async () => {
      if (classes.length === 0) return printed('java', '-version')
      if (!classes.every((path) => existsSync(path))) return undefined
      const names = readdirSync('/usr/share/java').join('\n')
      return new RegExp(`^${name}-([\\d.]+)\\.jar$`, 'm').exec(names)?.[1]
    },
    drive: async (place) =>
      lineDriver(
        place,
        'java',
        [...(await javaTrust(place)), ...(classes.length > 0 ? ['-cp', classes.join(':')] : []), join(DRIVERS, file)],
        tabbed,
      ),
  }
}

/** From tools that say what they are to browsers that a program drives. */
export const TOOLS: readonly Tool[] = [
  command('curl', (job) => curlArgs(job)),
  command('wget', (job, place) => [
    '-q',
    '--no-check-certificate',
    '-O',
    '/dev/null',
    '--tries=1',
    ...headerFlags('--header', job),
    '-i',
    writePages(job, place.folder, 'wget.txt'),
  ]),
  command('aria2c', (job, place) => [
    '-q',
    '--check-certificate=false',
    // It takes a second for each of those that follow one another.
    '--max-concurrent-downloads=20',
    '--max-tries=1',
    '--allow-overwrite=true',
    ...headerFlags('--header', job),
    '-d',
    join(place.folder, 'aria2'),
    '-i',
    writePages(job, place.folder, 'aria2c.txt'),
  ]),
  python('requests'),
  python('httpx'),
  python('aiohttp'),
  python('urllib'),
  python('scrapy'),
  {
    ...program('Go net/http', ['go', 'version'], () => []),
    drive: async (place) => {
      const built = join(place.folder, 'go-client')
      await run('go', ['build', '-o', built, join(DRIVERS, 'main.go')], { env: { ...process.env, GO111MODULE: 'off' } })
      return lineDriver(place, built, [])
    },
  },
  java('Java HttpClient', 'Client.java', []),
  java('okhttp', 'OkHttp.java', OKHTTP),
  program('Ruby net/http', ['ruby', '--version'], () => [join(DRIVERS, 'ruby.rb')]),
  program('Perl LWP', ['perl', '-MLWP', '-e', 'print LWP->VERSION'], () => [join(DRIVERS, 'perl.pl')]),
  program('PHP file_get_contents', ['php', '--version'], () => [join(DRIVERS, 'php.php'), 'stream']),
  program('PHP curl', ['php', '-r', 'echo curl_version()["version"];'], () => [join(DRIVERS, 'php.php'), 'curl']),
  program('node fetch', [process.execPath, '--version'], () => [join(DRIVERS, 'node.mjs'), 'fetch']),
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
