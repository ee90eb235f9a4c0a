import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { examineApi } from '../src/examine.ts'
import { certificateFolder } from './certificate.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const api = { enabled: true, base: '' }

const ORIGINS: Readonly<Record<string, readonly [isTaken: boolean, RequestListener]>> = {
  'an API that says where it is': [true, (req, res) => res.writeHead(req.url === '/v1' ? 200 : 404).end()],
  'an API that asks for a token': [true, (req, res) => res.writeHead(req.url === '/v1' ? 401 : 404).end()],
  'an API whose root is nothing, as JSON': [
    true,
    (req, res) => res.writeHead(404, req.url === '/v1' ? JSON_TYPE : { 'content-type': 'text/html' }).end(),
  ],
  'a site without one': [false, (_, res) => res.writeHead(404).end()],
  'a page application that answers everything': [false, (_, res) => res.writeHead(200).end('<main>')],
  'a site that sends everybody to log in': [false, (_, res) => res.writeHead(302, { location: '/login' }).end()],
  'a site that answers nothing': [false, (req) => req.socket.destroy()],
}

t.test('an origin with a /v1 of its own is named, with the keys that move ours', async (t) => {
  for (const [name, [isTaken, answer]] of Object.entries(ORIGINS)) {
    const upstream = `http://127.0.0.1:${await listening(t, createServer(answer))}`
    const found = await examineApi({ api, upstream })
    const warned = { state: 'warn', found: `${upstream} has its own /v1`, advice: /base: \/sallyport }.*enabled/ }
    t.match(found, [isTaken ? warned : { state: 'ok' }], name)
    t.same(await examineApi({ api: { ...api, enabled: false }, upstream }), [], 'there is no API here')
    t.match(await examineApi({ api: { ...api, base: '/sallyport' }, upstream }), [{ state: 'ok' }], 'it is elsewhere')
  }
})

t.test('routes are asked by host and over a socket', async (t) => {
  const hosts: unknown[] = []
  const server = createServer((req, res) => {
    hosts.push(req.headers.host)
    res.writeHead(req.url === '/api/v1' && req.headers.host === 'shop.example' ? 200 : 404).end()
  })
  const socket = join(certificateFolder(t), 'app.sock')
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.teardown(() => server.close())
  const upstreams = [`unix:${socket}`]
  const routes = [{ host: 'shop.example', upstreams }, { host: '*.shop.example', upstreams }, { path: '/a' }]
  const found = await examineApi({ api: { enabled: true, base: '/api' }, routes })
  t.match(found, [{ state: 'warn', found: /app\.sock has its own \/api\/v1/ }])
  t.same(new Set(hosts), new Set(['shop.example', 'localhost']))
  t.same(await examineApi({ api, routes: [{ path: '/a' }] }), [], 'without an origin there is nothing to ask')
})
