import { existsSync } from 'node:fs'
import { createCatalogue } from '@sallyport/core'
import { isCity, resolveSources } from '@sallyport/engine'
import { visitorAddresses } from '../visitors.ts'

/*
 * nginx that looks up what an inspection begins with: the city of the client by its GeoIP2 module, a list of made
 * prefixes, and the crawlers of our catalogue as a map of regular expressions, all of it said to the origin.
 */
const MODULE = '/usr/lib/nginx/modules/ngx_http_geoip2_module.so'
const PREFIXES = 10_000

const CITIES = resolveSources().filter(isCity)
const DATABASE = CITIES.find(({ row }) => row.id === 'dbip-city-v4')?.file.path

/** Why it cannot run here. */
export const MISSING_LOOKUPS = !existsSync(MODULE)
  ? 'the GeoIP2 module of nginx is not installed'
  : DATABASE === undefined
    ? 'no city database is installed'
    : undefined

/** Before everything else in the configuration. */
export const LOAD_LOOKUPS = `load_module ${MODULE}; pcre_jit on;`

/** In `http`: each is looked up when the header that has it is made. */
export function lookups(): string {
  const client = '$http_x_forwarded_for'
  const prefixes = new Set(visitorAddresses(PREFIXES).map((address) => address.replace(/\d+$/, '0/24')))
  const crawlers = createCatalogue().crawlers.flatMap(({ slug, tokens }) =>
    tokens.map((token) => `"~*${token.replaceAll(/[.+()]/g, '\\$&')}" "${slug}";`),
  )
  return [
    `geoip2 ${DATABASE} { $city source=${client} city; $country source=${client} country_code; }`,
    `geo ${client} $listed { default 0; ${[...prefixes].map((prefix) => `${prefix} 1;`).join(' ')} }`,
    `map $http_user_agent $crawler { default ""; ${crawlers.join(' ')} }`,
  ].join('\n')
}

/** In `location`. */
export const SAY_LOOKUPS = [
  'proxy_set_header X-Place "$city $country";',
  'proxy_set_header X-Listed $listed;',
  'proxy_set_header X-Crawler $crawler;',
].join(' ')
