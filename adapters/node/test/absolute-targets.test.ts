import type { Api } from '@sallyport/engine'
import t from 'tap'
import { answer } from '../src/api-answer.ts'
import { mountedPath } from '../src/request/mounted-path.ts'
import { dial, serve } from './support.ts'

t.test('a target in absolute form is refused where it is for the API, and is the host’s elsewhere', async (t) => {
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
  const refused =
    '400 {"error":"invalid_request","message":"The target is not a path that starts with one slash.","details":{"requestId":"ID"}}\n'
  for (const [target, answered] of [
    ['http://a/v1/myip', refused],
    ['http://a/v1?x', refused],
    ['HTTPS://u:p@b:8443/v1', refused],
    ['http:///v1/myip', refused],
    ['http://a/v1beta', 'host \n'],
    ['http://a/shop?/v1/', 'host \n'],
    ['http://v1/myip', 'host \n'],
    ['/v1/myip', 'host \n'],
    ['/shop?http://a/v1/', 'host \n'],
  ] as const) {
    asked.length = 0
    const text = await dial(t, port, `GET ${target} HTTP/1.0\r\nHost: a\r\n\r\n`).closed
    const body = text.slice(text.indexOf('\r\n\r\n') + 4).replace(/[\da-f-]{36}/g, 'ID')
    t.equal(body, answered.repeat(2), target)
    t.equal(asked.length, target === '/v1/myip' ? 2 : 0, 'the API is asked for its own alone')
  }
})
