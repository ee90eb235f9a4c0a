import { SOLUTION_FIELD } from '@sallyport/core/host'
import type { Config } from '#config'
import { type CheckResult, fail, ok, reasonOf, warn } from '#service'

const SITE_MS = 5_000

/** Advice for the server in front, so that answers, and those who are asked, reach the gate. */
const ADVICE: Readonly<
  Record<'nginx' | 'ingress-nginx' | 'caddy' | 'traefik' | 'envoy' | 'none', (path: string, gate: string) => string>
> = {
  nginx: (path) =>
    `In nginx: error_page 401 = @sallyport, and a location = ${path} that does the same and that no other location denies (examples/nginx/site.conf).`,
  'ingress-nginx': (path) =>
    `ingress-nginx relays no challenge: for rules with the action challenge let the ingress lead to the gate, with ${path}, and the gate to the site.`,
  caddy: (path, gate) =>
    `In Caddy: handle ${path} { reverse_proxy ${gate} } before forward_auth, which hands on all fields (examples/caddy/Caddyfile).`,
  traefik: (path) =>
    `In Traefik: a router whose rule has PathPrefix(\`${path}\`), with the middleware forwardAuth as on all others.`,
  envoy: (path) =>
    `In Envoy: ext_authz on ${path} as on all routes, which hands cookie, content-type and ${SOLUTION_FIELD} to the check (examples/envoy/envoy.yaml).`,
  none: (path, gate) =>
    `Let what stands in front send ${path}, and the site, to ${gate} with every field of a request.`,
}

/**
 * Whether the answers of visitors who are asked reach the gate through what stands in front: at the path of the page, and at
 * the wanted URL, where nginx also sends those who are asked. An answer that is none is sent, which the gate refuses in its own words.
 */
export async function examineSite(config: Config, site: string | undefined): Promise<readonly CheckResult[]> {
  if (site === undefined) {
    if (config.forwardAuth === false) return []
    return [ok('Not asked: --site https://… checks through the site that challenge solutions reach the gate.')]
  }
  if (config.mode === 'monitor') return [ok('Not asked: monitor mode answers nothing of a challenge.')]
  const path = `${config.challenge.path}/pass`
  const advice = ADVICE[config.forwardAuth || 'none'](path, config.listen)
  const place = new URL(path, site).href
  // Caddy, as its example has it, takes our fields away everywhere else.
  const isPathAlone = config.forwardAuth === 'caddy'
  const [atPath, atSite] = await Promise.all([ask(place, 'POST'), isPathAlone ? undefined : ask(site, 'GET')])
  if (atPath === undefined && atSite === undefined) {
    return [ok(`Challenge solutions reach the gate at ${place}${isPathAlone ? '' : ` and at ${site}`}.`)]
  }
  if (atPath === undefined)
    return [fail(`${site} does not send challenges and solutions to the gate: ${atSite}.`, advice)]
  const found = `${place} does not reach the gate: ${atPath}`
  if (isPathAlone) return [fail(`${found}.`, advice)]
  if (atSite !== undefined) return [fail(`${found}, nor does ${site}: ${atSite}.`, advice)]
  return [warn(`${found}. The page sends its solution to the wanted URL, a request later.`, advice)]
}

/** The answer that is not the gate's, in words; `undefined`: the gate answered. */
async function ask(url: string, method: 'GET' | 'POST'): Promise<string | undefined> {
  try {
    const answer = await fetch(url, {
      method,
      headers: { [SOLUTION_FIELD]: 'doctor', 'user-agent': 'Mozilla/5.0 (compatible; sallyport-doctor)' },
      redirect: 'manual',
      signal: AbortSignal.timeout(SITE_MS),
    })
    await answer.body?.cancel()
    if (answer.headers.has('sallyport-pass')) return undefined
    const { status, headers } = answer
    if (status === 403) return 'the answer is 403, as of a rule or a server that refuses this machine'
    const to = headers.get('location')
    return to === null ? `the answer is ${status}` : `it redirects to ${to}, so name that with --site`
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return error instanceof Error && error.name === 'TimeoutError' ? 'no answer in 5 s' : reasonOf(cause)
  }
}
