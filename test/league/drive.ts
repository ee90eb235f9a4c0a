import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Header } from './copied.ts'

/** The pages `/page/1` to `/page/COUNT` of a site, which a tool requests one after another with these headers. */
export interface Job {
  readonly base: string
  readonly count: number
  readonly headers: readonly Header[]
  /** The certificate of the site is in this PEM file. */
  readonly ca: string
}

/** A tool that is ready for jobs. */
export interface Driver {
  /** Resolves when the tool has done a job; rejects with what it said where it could not send the requests. */
  run(job: Job): Promise<void>
  close(): Promise<void>
}

/** The tools of a run have this place in common. */
export interface Place {
  /** A folder of this run, which is removed at its end. */
  readonly folder: string
  /** The certificate of the gates is in this PEM file. */
  readonly ca: string
  /** Folder of the project into which packages of npm were installed. */
  readonly project: string
}

/** The variable that names the certificate, for each language; no proxy of this machine is used. */
function environment({ folder, ca }: Place): NodeJS.ProcessEnv {
  const named = ['CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'PERL_LWP_SSL_CA_FILE', 'REQUESTS_CA_BUNDLE', 'SSL_CERT_FILE']
  const trust = Object.fromEntries(named.map((name) => [name, ca]))
  return { ...trust, PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', GO111MODULE: 'off' }
}

/** A tool that starts for each job, with the arguments that `args` makes of it. */
export function commandDriver(place: Place, command: string, args: (job: Job) => readonly string[]): Driver {
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const options = { cwd: place.folder, env: environment(place), maxBuffer: Number.POSITIVE_INFINITY }
        const child = execFile(command, args(job), options, (error, _, said) => {
          // A refused page is an exit code of some tools too; what never reached the gate is seen by its count.
          if (error === null || typeof error.code === 'number') resolve()
          else reject(new Error(`${error.message}${said}`))
        })
        child.stdin?.end()
      }),
    close: async () => {},
  }
}

/** A program of `drivers` that stays: it reads jobs, a line each, and writes `done` or what went wrong behind each. */
export function lineDriver(
  place: Place,
  command: string,
  args: readonly string[],
  write: (job: Job) => string = JSON.stringify,
): Driver {
  const child = spawn(command, args, { cwd: place.folder, env: environment(place) })
  const said: string[] = []
  child.stderr.on('data', (text) => said.push(String(text)))
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const closed = once(child, 'close')
  return {
    async run(job) {
      child.stdin.write(`${write(job)}\n`)
      const { value, done } = await lines.next()
      if (value !== 'done') throw new Error(done ? `ended: ${said.join('').slice(-1000)}` : value)
    },
    async close() {
      child.stdin.end()
      await closed
    },
  }
}

/** Separated by tabs, for languages whose own libraries read no JSON. */
export const tabbed = ({ base, count, headers }: Job): string => [base, count, ...headers.flat()].join('\t')
