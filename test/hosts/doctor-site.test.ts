import type { RequestListener } from 'node:http'
import { type ConfigInput, doctor, type Finding } from '@sallyport/engine'
import { freePort } from '@sallyport/engine/testing'
import type { ProxyOptions } from '@sallyport/proxy'
import t, { type Test } from 'tap'
import { type Front, noFront, startFront } from './fronts.ts'
import { startOrigin, startProxy } from './proxy.ts'
import { openWithoutData } from './without-data.ts'

/* doctor asks through what stands in front whether answers to questions reach the gate. */
type Options = Pick<ProxyOptions, 'forwardAuth' | 'upstream'>

/** A gate before an origin that answers everything; returns its host and what the doctor finds of a site. */
async function createGate(t: Test, options: Options, policy: ConfigInput['policy'] = { preset: 'observe' }) {
  const sallyport = await openWithoutData(t, { policy })
  const gate = await startProxy(t, sallyport, options)
  const { host } = new URL(gate.url)
  const config = { ...sallyport.config, forwardAuth: options.forwardAuth ?? false, listen: host }
  const examined = async (site?: string): Promise<readonly Finding[]> => {
    const findings = await doctor({ ...config, dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 } }, { site })
    return findings.filter(({ check }) => check === 'challenge')
  }
  return { host, examined }
}

const ORIGIN: RequestListener = (_, res) => res.end('the site')

t.test('the gate itself in front, and a server that sends it part of what is asked, or nothing', async (t) => {
  const origin = await startOrigin(t, ORIGIN)
  const { host, examined } = await createGate(t, { upstream: origin })
  t.same(await examined(), [], 'nothing is said of a site that nobody names')
  const reached = `Challenge solutions reach the gate at http://${host}/.sallyport/pass and at http://${host}/shop.`
  t.match(await examined(`http://${host}/shop`), [{ state: 'ok', found: reached }])
  t.match((await examined(origin))[0]?.advice, `to ${host}, with every request header`)
  const location = 'https://www.site.example/'
  for (const [site, found] of [
    [origin, /pass does not reach the gate: the response is 200, nor does \S+: the response is 200\.$/],
    [`http://127.0.0.1:${await freePort()}`, /nothing listens there/],
    [
      await startOrigin(t, (_, res) => res.writeHead(301, { location }).end()),
      /redirects to https:\/\/www\.site\.example\/. Pass that URL with --site/,
    ],
    [await startOrigin(t, (_, res) => res.writeHead(403).end()), /403, so a rule or server blocks/],
  ] as const) {
    t.match(await examined(`${site}/`), [{ state: 'fail', found }])
  }
})

t.test('a rule that blocks this machine is not taken for the gate', async (t) => {
  const rules = [{ id: 'closed', match: {}, action: 'block' as const }]
  const upstream = await startOrigin(t, ORIGIN)
  const { host, examined } = await createGate(t, { upstream }, { preset: 'observe', rules })
  t.match(await examined(`http://${host}/`), [{ state: 'fail', found: /403, so a rule or server/ }])
})

t.test('a server that asks first is named with what it needs', async (t) => {
  for (const forwardAuth of ['nginx', 'caddy', 'traefik'] as const) {
    const { examined } = await createGate(t, { forwardAuth })
    t.match(await examined(), [{ state: 'ok', found: /--site https:/ }], 'it says how to ask')
    const [found] = await examined(`${await startOrigin(t, ORIGIN)}/`)
    t.match(found, { state: 'fail', advice: new RegExp(`^In ${forwardAuth}, .*/\\.sallyport/pass`, 'i') })
  }
})

/** Locations as people forget or forbid them, and the finding. */
const NGINX: readonly (readonly [string, readonly (readonly [string, string])[], Finding['state'], RegExp])[] = [
  ['as in the example', [], 'ok', /reach the gate at .*pass and at/],
  [
    'names that begin with a dot are denied',
    [
      ['location = /.sallyport/pass {', 'location = /another {'],
      ['location / {', 'location ~ /\\. { auth_request off; deny all; }\n  location / {'],
    ],
    'warn',
    /pass does not reach the gate: the response is 403, so .*requested URL/,
  ],
  [
    'the location is missing, and files are looked for there',
    [
      ['location = /.sallyport/pass {', 'location = /another {'],
      ['location / {', 'location /.sallyport/ { auth_request off; return 404; }\n  location / {'],
    ],
    'warn',
    /pass does not reach the gate: the response is 404\. The page therefore sends/,
  ],
  [
    'who is asked stays at 401',
    [['error_page 401 = @sallyport;\n  location', 'location']],
    'fail',
    /does not send challenges and solutions to the gate: the response is 401\.$/,
  ],
]

for (const [name, changed, state, found] of NGINX) {
  t.test(`nginx: ${name}`, { skip: noFront('nginx') }, (t) => inFront(t, 'nginx', changed, { state, found }))
}

t.test('Caddy as in the example', { skip: noFront('caddy') }, (t) =>
  inFront(t, 'caddy', [['http://site.example', 'http://127.0.0.1']], { state: 'ok', found: /reach the gate at/ }),
)

async function inFront(
  t: Test,
  forwardAuth: Exclude<Front, 'haproxy'>,
  changed: readonly (readonly [string, string])[],
  expected: { readonly state: Finding['state']; readonly found: RegExp },
): Promise<void> {
  const rules = [{ id: 'ask', match: {}, action: 'challenge' as const }]
  const { host, examined } = await createGate(t, { forwardAuth }, { preset: 'observe', rules })
  const origin = new URL(await startOrigin(t, ORIGIN)).host
  const { port } = await startFront(t, forwardAuth, { gate: host, origin }, changed)
  const [found, ...others] = await examined(`http://127.0.0.1:${port}/`)
  t.match(found, expected)
  t.same(others, [])
  if (expected.state !== 'ok')
    t.match(found?.advice, /^In nginx, add error_page 401 = @sallyport .*\/\.sallyport\/pass/)
}
