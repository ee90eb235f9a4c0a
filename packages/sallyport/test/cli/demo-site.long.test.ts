import { open } from '@sallyport/engine'
import { openProxy } from '@sallyport/proxy'
import t, { type Test } from 'tap'
import { openDemoSite } from '../../src/cli/demo/site.ts'
import { DEMO_VISITORS } from '../../src/cli/demo/visitors.ts'
import { visit, workspace } from './command.ts'

async function openDemo(t: Test, trustProxy: string[]) {
  const { folder: dataDir } = workspace(t)
  const quiet = { data: { refresh: false }, net: { outbound: false }, log: { requests: 'off' } } as const
  const sallyport = await open({ ...quiet, dataDir, trustProxy, decoys: { paths: ['/trap'] } }, { onNotice() {} })
  const site = await openDemoSite()
  const { url: upstream, onDecision } = site
  const own = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }
  const proxy = await openProxy(sallyport, { ...own, upstream, onDecision })
  site.stand({ sallyport, url: proxy.url, consoleUrl: 'http://127.0.0.1:1', visitors: DEMO_VISITORS })
  t.teardown(async () => {
    await proxy.close('cut')
    await site.close()
    await sallyport.close()
  })
  return (path: string, headers = {}) => visit(proxy.url + path, headers)
}

t.test('on the example site one becomes another visitor, and sees what the gate makes of him', async (t) => {
  const get = await openDemo(t, ['loopback'])
  const { text: first } = await get('/')
  t.match(first, 'href="/?as=tor#gate"')
  t.match(first, 'href="/trap"')
  t.notMatch(first, '<iframe')
  t.match(first, 'sallyport-action</th><td>')
  const { text: page } = await get('/?as=copied')
  t.match(page, 'You are a copied user agent on a server, 5.9.10.25')
  t.match(page, /<th scope="row">decided<\/th><td><strong>\w+<\/strong>, and answered \d{3}/)
  t.match(page, /<th scope="row">a program<\/th><td>probability \d+ %/)
  t.match(page, 'X-Forwarded-For: 5.9.10.25&#39; ')
  t.match(page, /href="http:\/\/127\.0\.0\.1:1\/#\/request\?id=[\w-]{36}"/)
  t.match(page, 'srcdoc="&lt;!doctype html&gt;', 'its page is shown as it came, escaped and in a sandbox')
  t.notMatch(page, '<footer', 'nothing else is judged beside it')
  t.notMatch((await get('/?as=%3Cscript%3E')).text, '<script')
  const { status, text } = await get('/login', { 'x-forwarded-for': '73.162.10.20', x: '<script>' })
  t.equal(status, 200)
  t.match(text, '<td>73.162.10.20, 127.0.0.1</td>')
  t.notMatch(text, '<script>')
  t.equal((await get('/nothing')).status, 404)
  t.match((await get('/robots.txt')).text, 'Disallow: /drafts/')
})

t.test('no visitor can become another if this machine is not trusted', async (t) => {
  const get = await openDemo(t, [])
  t.match((await get('/?as=tor')).text, /^(?![\s\S]*<iframe)[\s\S]*trustProxy: \[loopback\]/)
})
