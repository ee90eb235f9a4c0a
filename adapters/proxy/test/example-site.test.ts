import t from 'tap'
import { openProxy } from '../src/index.ts'
import { fakeSallyport } from './sallyport.ts'

async function site(trust: readonly string[]) {
  const sallyport = fakeSallyport({ trust })
  const adminPages = { handle: () => false, permits: () => true }
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    demo: true,
    adminPages,
  })
  t.teardown(() => proxy.close('cut'))
  return { proxy, get: async (path: string) => (await fetch(`${proxy.url}${path}`)).text() }
}

t.test('on the example site one becomes another visitor, and sees what the gate makes of him', async (t) => {
  const { proxy, get } = await site(['loopback'])
  const first = await get('/')
  t.match(first, 'href="/?as=tor#gate"')
  t.notMatch(first, '<iframe')
  const page = await get('/?as=googlebot')
  t.match(page, 'You are Googlebot, 66.249.66.1')
  t.match(page, /<th scope="row">decided<\/th><td><strong>\w+<\/strong>, and answered \d{3}/)
  t.match(page, 'curl -A Googlebot/2.1 -H &#39;X-Forwarded-For: 66.249.66.1&#39; ')
  t.notMatch(page, '<footer', 'nothing else is judged beside it')
  t.match(first, 'sallyport-action</th><td>')
  t.match(page, new RegExp(`href="${proxy.adminUrl}/#/request\\?id=[\\w-]{36}"`))
  t.match(page, 'srcdoc="&#60;!doctype html&#62;', 'its page is shown as it came, escaped and in a sandbox')
  t.match(page, '<script src="/copy.js"')
  t.notMatch(page, '<script>')
  t.notMatch(await get('/?as=%3Cscript%3E'), '<script')
  t.match(await get('/copy.js'), 'clipboard')
  t.match(await get('/articles/gates.md'), '# What a sally port is')
  t.match(await get('/robots.txt'), 'Disallow: /drafts/')
})

t.test('nobody can be another visitor if this machine is not trusted', async (t) => {
  const { get } = await site([])
  t.notMatch(await get('/?as=tor'), '<iframe')
  t.match(await get('/?as=tor'), 'trustProxy: [loopback]')
})

t.test('a copied user agent on a server is shown with its probability', async (t) => {
  const { get } = await site(['loopback'])
  const page = await get('/?as=copied')
  t.match(page, 'You are a copied user agent on a server, 5.9.10.25')
  t.match(page, /<th scope="row">a program<\/th><td>with \d+ % probability/)
})
