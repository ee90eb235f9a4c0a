import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '@sallyport/core'
import type { Choice } from '../terminal/ask.ts'

export interface Framework extends Choice {
  /** Names dependencies in a package.json that indicate the framework. */
  readonly shownBy: readonly string[]
  readonly from: string
  readonly names: string
  readonly use: string
}

const MIDDLEWARE = {
  names: 'inspection, open',
  use: 'app.use(inspection(sallyport)) // before every other middleware and route',
} as const

/** Lists the frameworks in the order in which a package.json is searched. */
export const FRAMEWORKS: readonly Framework[] = [
  {
    ...MIDDLEWARE,
    name: 'express',
    about: 'Express 5 or 4, NestJS on Express',
    shownBy: ['express', '@nestjs/platform-express'],
    from: '@sallyport/express',
  },
  { ...MIDDLEWARE, name: 'koa', about: 'Koa 3 or 2', shownBy: ['koa'], from: '@sallyport/koa' },
  {
    name: 'fastify',
    about: 'Fastify 5 or 4',
    shownBy: ['fastify'],
    from: '@sallyport/fastify',
    names: 'inspection, open',
    use: 'await app.register(inspection, { sallyport }) // before every other plugin and route',
  },
  { ...MIDDLEWARE, name: 'hono', about: 'Hono on Node', shownBy: ['hono'], from: '@sallyport/fetch/hono' },
  {
    name: 'node',
    about: 'node:http without a framework',
    shownBy: [],
    from: '@sallyport/node',
    names: 'listener, open',
    use: 'const server = createServer(listener(sallyport, handler)) // handler is what createServer() had before',
  },
]

/** The answer for every application that has no lines here. */
export const PROXY = 'proxy'

export function isFramework(answer: Choice & Partial<Framework>): answer is Framework {
  return answer.from !== undefined
}

const SCRIPTS = { start: 'npm start', dev: 'npm run dev' }

export function readApplication(folder: string) {
  const manifest = readManifest(join(folder, 'package.json'))
  const [dependencies, scripts, main] = [manifest['dependencies'] ?? {}, manifest['scripts'] ?? {}, manifest['main']]
  const found = FRAMEWORKS.find(({ shownBy }) => shownBy.some((name) => Object.hasOwn(dependencies, name)))
  const script = Object.entries(SCRIPTS).find(([name]) => Object.hasOwn(scripts, name))
  return {
    framework: found?.name ?? PROXY,
    /** ES modules may await outside functions. */
    isModule: manifest['type'] === 'module',
    isTyped: existsSync(join(folder, 'tsconfig.json')),
    start: script?.[1] ?? `node ${typeof main === 'string' ? main : 'app.js'}`,
  }
}

/** Reads a package.json. A missing or unreadable file suggests nothing: the command asks without it. */
function readManifest(file: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isRecord(manifest) ? manifest : {}
  } catch {
    return {}
  }
}

/** Writes the lines that an application adopts. `options` is the literal for `open()`. */
export function formatLines(
  { from, names, use }: Framework,
  options: string,
  { isModule, isTyped }: Pick<ReturnType<typeof readApplication>, 'isModule' | 'isTyped'>,
): string {
  const first = isModule || isTyped ? `import { ${names} } from '${from}'` : `const { ${names} } = require('${from}')`
  const body = `const sallyport = await open(${options})\n${use}`
  if (isModule) return `${first}\n\n${body}`
  const rest = '// Here follow the routes of the application, and its listen().'
  return `${first}\n\nasync function start() {\n${`${body}\n${rest}`.replaceAll(/^/gm, '  ')}\n}\n\nstart()`
}
