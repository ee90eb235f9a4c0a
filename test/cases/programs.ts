import { execFile } from 'node:child_process'
import { type AddressInfo, createServer } from 'node:net'
import { certificate } from '../certificate.ts'
import { missing } from '../clients/programs.ts'
import { ROOT } from '../workspaces.ts'
import { type Judge, short } from './case.ts'
import type { Product } from './product.ts'

/** How a program is started, as its first lines say: `node grpc.mjs HOST:PORT`, `haproxy-solution.sh CLONE`. */
const USAGE = /[\w-]+\.(?:mjs|sh) (?<place>HOST:PORT|CLONE)(?<cases> CASES\.json)?/

/** A program that sends requests itself, and prints whether the answers are right. */
export const program: Judge = {
  takes: ({ name, text }) => /\.(?:mjs|sh)$/.test(name) && USAGE.test(text),
  async judge({ name, path, text }, product) {
    const { place, cases } = USAGE.exec(text)?.groups ?? {}
    // The files that such a program reads are judged as cases of their own.
    if (cases !== undefined) return []
    const row = { input: name, expected: 'right' }
    const absent = /^haproxy /m.test(text) && missing('haproxy', '-v')
    if (absent) return [{ ...row, came: absent, ok: undefined }]
    const given = place === 'CLONE' ? ROOT : await securePlace(product)
    const out = await run(name.endsWith('.sh') ? 'sh' : process.execPath, path, given)
    return [{ ...row, came: short(out), ok: /^right\b/m.test(out) }]
  },
}

/** A prose file describes steps that a person follows in a browser. */
export const byHand: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && /^In one tab/.test(text),
  judge: async ({ name, text }) => [{ input: name, expected: short(text), came: 'by hand', ok: undefined }],
}

async function securePlace(product: Product): Promise<string> {
  const tls = { certificates: [certificate(product.folder)] }
  const { url } = await product.gate({ trustProxy: ['loopback'] }, undefined, { tls })
  return new URL(url).host
}

/** Starts a program with ports that are free for its servers. */
async function run(command: string, path: string, place: string): Promise<string> {
  const [HAPORT, GATE, ORIGIN] = await Promise.all([freePort(), freePort(), freePort()])
  const env = { ...process.env, HAPORT, GATE, ORIGIN } as NodeJS.ProcessEnv
  return new Promise((resolve) =>
    execFile(command, [path, place], { env, timeout: 120_000 }, (_error, out, said) => resolve(out + said)),
  )
}

function freePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(String(port)))
    })
  })
}
