import { createServer } from 'node:http'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import { v1 } from '@sallyport/node'
import express from 'express'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import Koa from 'koa'
import t from 'tap'
import { HOSTS, type RunningHost, running } from './hosts.ts'
import { exchange, parseResponse, requestBytes, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/*
 * Bad input to the real API over every host: each answer is that of the specification, and has the bytes and the headers
 * of the first host's, with the state of its limits.
 */

interface Case {
  readonly method?: string | undefined
  readonly target: string
  readonly fields?: readonly string[] | undefined
  readonly body?: string | undefined
  readonly keyed?: true | undefined
  readonly status: number
  readonly error?: string | undefined
}

const LONG = 'a'.repeat(9_000)
const JSON_TYPE = ['Content-Type', 'application/json']

const CASES: readonly Case[] = [
  ...['%00', '1.1.1.1%00', '%2e%2e%2f', '%5c..', '%20', '1.1.1.1%23', '[::1]', '1.1.1.1;a=b', LONG].map(
    (parameter) => ({ target: `/v1/demo/${parameter}`, status: 400, error: 'invalid_ip' }),
  ),
  ...['%zz', '%', '%e9', '%c0%ae', '%ed%a0%80', '%f8%88%80%80%80'].map((parameter) => ({
    target: `/v1/demo/${parameter}`,
    status: 400,
    error: 'invalid_request',
  })),
  ...['%00', 'AS1%00', '-1', '4294967296', LONG].map((parameter) => ({
    target: `/v1/asn/directory/${parameter}`,
    status: 400,
    error: 'invalid_asn',
  })),
  ...['%00', 'example%00.com', '..', LONG].map((parameter) => ({
    target: `/v1/whois/${parameter === '..' ? 'a..b' : parameter}`,
    keyed: true as const,
    status: 400,
    error: 'invalid_domain',
  })),
  { target: '/v1/vpn/%zz', status: 401, error: 'unauthorized' },
  { target: '/v1/vpn/%00', status: 401, error: 'unauthorized' },
  { target: '/v1/vpn/%zz', keyed: true, status: 400, error: 'invalid_request' },
  { target: '/v1/vpn/%00', keyed: true, status: 400, error: 'invalid_ip' },
  { method: 'POST', target: '/v1/demo/%zz', status: 405, error: 'method_not_allowed' },
  { method: 'PROPFIND', target: '/v1/demo/%zz', status: 405, error: 'method_not_allowed' },
  { method: 'PROPFIND', target: '/v1/%zz', status: 400, error: 'invalid_request' },
  { method: 'HEAD', target: '/v1/demo/%zz', status: 400 },
  { method: 'HEAD', target: '/v1/demo/1.1.1.1%00', status: 400 },
  { method: 'OPTIONS', target: '/v1/demo/%00', status: 405, error: 'method_not_allowed' },
  ...['/v1/', '/v1/demo/', '/v1/demo', '/v1//demo/1.1.1.1', '/v1/demo/1.1.1.1/', '/v1/MYIP', '/v1/%2fmyip'].map(
    (target) => ({ target, status: 404, error: 'not_found' }),
  ),
  { target: '/v1/%zz', status: 400, error: 'invalid_request' },
  { target: '/v1/demo/%zz?ip=%zz', status: 400, error: 'invalid_request' },
  { target: '/v1/provenance/export?attestation_id=1&attestation_id=x&from=%ff', keyed: true, status: 400 },
  { target: '/v1/provenance/export?attestation_id="1"', keyed: true, status: 400, error: 'invalid_request' },
  { target: `/v1/provenance/export?from=${LONG}`, keyed: true, status: 400, error: 'invalid_request' },
  { method: 'POST', target: '/v1/ip/lookup', keyed: true, body: '', status: 400, error: 'invalid_request' },
  {
    method: 'POST',
    target: '/v1/ip/lookup',
    keyed: true,
    fields: ['Content-Type', 'text/plain'],
    body: '{"target":"a b"}',
    status: 400,
    error: 'invalid_target',
  },
  ...['{}', '[]', 'null', '"x"', '7', '{"target":7}', `{"target":"${'x'.repeat(4097)}"}`, '{"target":"\\ud800"'].map(
    (body) => ({
      method: 'POST',
      target: '/v1/ip/lookup',
      keyed: true as const,
      fields: JSON_TYPE,
      body,
      status: 400,
      error: 'invalid_request',
    }),
  ),
  ...['{', '{}', '{"ip":"x","bot":"googlebot"}'].map((body) => ({
    method: 'POST',
    target: '/v1/crawlers/verify',
    body,
    status: 400,
  })),
]

/** Answers that no input made bad, which frameworks may write in their own way. */
const PLAIN: readonly Case[] = [
  { target: '/v1/provenance/keys', status: 200 },
  { method: 'HEAD', target: '/v1/provenance/keys', status: 200 },
  { target: '/v1/docs', status: 200 },
  {
    method: 'OPTIONS',
    target: '/v1/ip/lookup',
    fields: ['Origin', 'https://app.example', 'Access-Control-Request-Method', 'POST'],
    status: 204,
  },
]

/** Fields of the host's own, and the second at which a window ends. */
const NOT_COMPARED = /^(?:date|connection|keep-alive|transfer-encoding|x-powered-by|vary|x-ratelimit-reset)$/

function compared({ status, headers, body }: WireResponse): string {
  const fields = Object.entries(headers).filter(([name]) => !NOT_COMPARED.test(name))
  return [String(status), ...fields.map(([name, value]) => `${name}: ${value}`).sort(), '', body].join('\n')
}

t.test('every host gives the same answer, with its headers', async (t) => {
  const sallyport = await openWithoutData(t, { api: { cors: ['https://app.example'] } })
  const expected: string[] = []
  // Parsers of a framework's own stand before the API where they are used, and answer bodies themselves.
  const hosts = HOSTS.filter(({ parsesBodies = false }) => !parsesBodies)
  for (const [at, host] of hosts.entries()) {
    await t.test(host.name, async (t) => {
      const { key } = await sallyport.keyring.issue({ plan: 'free' })
      const site = await host.start(sallyport, '/detect')
      t.teardown(() => site.close())
      for (const [index, { method = 'GET', target, fields = [], body, keyed, status, error }] of [
        ...CASES,
        ...PLAIN,
      ].entries()) {
        const all = [
          'X-Forwarded-For',
          `192.0.2.${at + 1}`,
          'X-Request-Id',
          'one-id',
          'Connection',
          'close',
          ...(keyed ? ['Authorization', `Bearer ${key}`] : []),
          ...fields,
        ]
        const answered = parseResponse(await exchange(site.port, requestBytes(method, `/detect${target}`, all, body)))
        const name = `${method} ${target.slice(0, 60)} ${(body ?? '').slice(0, 40)}`
        t.equal(answered.status, status, name)
        if (error !== undefined) t.equal(JSON.parse(answered.body).error, error, name)
        expected[index] ??= compared(answered)
        t.equal(compared(answered), expected[index], name)
      }
    })
  }
})

/** Hosts whose servers leave a request without Host to what they serve. */
const WITHOUT_HOST: Readonly<Record<string, (sallyport: Parameters<typeof v1>[0]) => Promise<RunningHost>>> = {
  'node:http': (sallyport) =>
    running(
      createServer(
        { requireHostHeader: false },
        v1(sallyport, (_req, res) => void res.end('site')),
      ),
    ),
  async Express(sallyport) {
    return running(createServer({ requireHostHeader: false }, express().use(forExpress.v1(sallyport))))
  },
  async Koa(sallyport) {
    return running(createServer({ requireHostHeader: false }, new Koa().use(forKoa.v1(sallyport)).callback()))
  },
  async 'Fastify 5'(sallyport) {
    const app = Fastify({ http: { requireHostHeader: false } })
    await app.register(forFastify.v1, { sallyport })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
  async 'Fastify 4'(sallyport) {
    const app = Fastify4({ http: { requireHostHeader: false } })
    await app.register(forFastify.v1, { sallyport })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
  async 'the proxy'(sallyport) {
    const proxy = HOSTS.find(({ name }) => name === 'the proxy')
    if (proxy === undefined) throw new TypeError('no proxy')
    return proxy.start(sallyport as never, '')
  },
}

t.test('a request that names no site is an ErrorResponse where the server does not answer it itself', async (t) => {
  const sallyport = await openWithoutData(t, {})
  for (const [name, start] of Object.entries(WITHOUT_HOST)) {
    const site = await start(sallyport)
    t.teardown(() => site.close())
    for (const [head, status] of [
      ['GET /v1/demo/1.1.1.1 HTTP/1.1', 400],
      ['GET /v1/nothing HTTP/1.1\r\nHost:', 400],
      ['POST /v1/ip/lookup HTTP/1.1\r\nContent-Length: 2', 400],
      ['GET /v1 HTTP/1.0', 200],
    ] as const) {
      const bytes = `${head}\r\nX-Request-Id: one-id\r\n\r\n${head.startsWith('POST') ? '{}' : ''}`
      const answered = parseResponse(await exchange(site.port, bytes))
      t.equal(answered.status, status, `${name} ${head}`)
      if (status === 200) continue
      t.match(
        { ...answered, body: JSON.parse(answered.body) },
        {
          headers: { connection: 'close', 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'one-id' },
          body: { error: 'invalid_request', message: 'Host is missing.', details: { requestId: 'one-id' } },
        },
        `${name} ${head}`,
      )
    }
  }
})
