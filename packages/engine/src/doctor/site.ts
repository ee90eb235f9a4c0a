import { SOLUTION_FIELD } from '@sallyport/core/host'
import type { Config } from '#config'
import { type CheckResult, describeReason, fail, ok, warn } from '#service'

const SITE_MS = 5_000

/** Advice for the server in front, so that answers, and those who are asked, reach the gate. */
const ADVICE: Readonly<
  Record<'nginx' | 'ingress-nginx' | 'caddy' | 'traefik' | 'envoy' | 'none', (path: string, gate: string) => string>
> = {
  nginx: (path) =>
    `In nginx, add error_page 401 = @sallyport and a location = ${path} that does the same, and do not deny ${path} elsewhere (examples/nginx/site.conf).`,
  'ingress-nginx': (path) =>
    `ingress-nginx relays no challenges. For rules with the action challenge, route the ingress, including ${path}, to the gate, and the gate to the site.`,
  caddy: (path, gate) =>
    `In Caddy, add handle ${path} { reverse_proxy ${gate} } before forward_auth, which passes all headers (examples/caddy/Caddyfile).`,
  traefik: (path) =>
    `In Traefik, add a router with PathPrefix(\`${path}\`) and the same forwardAuth middleware as all other routers.`,
  envoy: (path) =>
    `In Envoy, apply ext_authz to ${path} as to all routes, and pass cookie, content-type and ${SOLUTION_FIELD} to the check (examples/envoy/envoy.yaml).`,
  none: (path, gate) => `Forward ${path} and the site to ${gate}, with every request header.`,
}

/**
 * Whether the answers of visitors who are asked reach the gate through what stands in front: at the path of the page, and at
 * the wanted URL, where nginx also sends those who are asked. An answer that is none is sent, which the gate refuses in its own words.
 */
export async function examineSite(config: Config, site: string | undefined): Promise<readonly CheckResult[]> {
  if (site === undefined) {
    if (config.forwardAuth === false) return []
    return [ok('Not checked. Pass --site https://… to check that challenge solutions reach the gate through the site.')]
  }
  if (config.mode === 'monitor') return [ok('Not checked, because monitor mode serves no challenges.')]
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
  return [warn(`${found}. The page therefore sends its solution to the requested URL, with one more request.`, advice)]
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
    if (status === 403) return 'the response is 403, so a rule or server blocks this machine'
    const to = headers.get('location')
    return to === null ? `the response is ${status}` : `it redirects to ${to}. Pass that URL with --site`
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return error instanceof Error && error.name === 'TimeoutError' ? 'no response within 5 s' : describeReason(cause)
  }
}
