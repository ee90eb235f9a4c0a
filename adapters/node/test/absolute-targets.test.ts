import type { Api } from '@sallyport/engine'
import t from 'tap'
import { answer } from '../src/api-answer.ts'
import { mountedPath } from '../src/request/mounted-path.ts'
import { dial, serve } from './support.ts'

t.test('a target in absolute form is the path that it names, of the site that Host names', async (t) => {
  const asked: string[] = []
  const api: Api = async ({ path }) => void asked.push(path)
  const port = await serve(t, async (req, res) => {
    const target = req.url ?? ''
    // As Express hands it over, and as a host that cuts its mount off.
    for (const path of [target, mountedPath(target) ?? '']) {
      const response = await answer({ api }, req, { res, target, path })
      res.write(`${response?.status ?? 'host'} ${response?.body ?? ''}\n`)
    }
    res.end()
  })
  const refused = (message: string) =>
    `400 {"error":"invalid_request","message":"${message}","details":{"requestId":"ID"}}\n`
  const none = refused('The target is neither a path nor the URL of one.')
  const other = refused('The target and Host differ.')
  const insecure = refused('The target is https, and the connection is not.')
  const rows: readonly (readonly [target: string, answered: string, ...asked: readonly string[]])[] = [
    ['http://a/v1/myip', 'host \n', '/v1/myip'],
    ['HTTP://A:80/v1?x', 'host \n', '/v1'],
    ['http://a./v1/myip', 'host \n', '/v1/myip'],
    ['http://a.:80/v1/myip', 'host \n', '/v1/myip'],
    ['http://a:/v1/myip', 'host \n', '/v1/myip'],
    ['https://a/v1/myip', insecure],
    ['https://a/shop', 'host \n'],
    ['http://a../v1/myip', other],
    ['http://b/v1/myip', other],
    ['http://a:8443/v1/myip', other],
    ['HTTPS://u:p@b:8443/v1', none],
    ['http:///v1/myip', none],
    ['http://a/v1beta', 'host \n'],
    ['http://a/shop?/v1/', 'host \n'],
    ['http://v1/myip', 'host \n'],
    ['/v1/myip', 'host \n', '/v1/myip'],
    ['/shop?http://a/v1/', 'host \n'],
  ]
  for (const [target, answered, ...paths] of rows) {
    asked.length = 0
    const text = await dial(t, port, `GET ${target} HTTP/1.0\r\nHost: a\r\n\r\n`).closed
    const body = text.slice(text.indexOf('\r\n\r\n') + 4).replace(/[\da-f-]{36}/g, 'ID')
    t.equal(body, answered.repeat(2), target)
    t.same(asked, [...paths, ...paths], target)
  }
})
