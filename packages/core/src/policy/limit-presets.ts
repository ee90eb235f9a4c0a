import type { Match } from './match-words.ts'
import type { LimitPresetName, Rule, Strikes } from './policy.ts'

const LOGIN: Match = {
  path: ['/login/**', '/signin/**', '/session/**', '/sessions/**', '/auth/**', '/password/**', '/wp-login.php'],
  method: ['POST'],
}

/** Rules that count, by the name under which `policy.limits` takes them. */
export const LIMIT_PRESETS: Readonly<Record<LimitPresetName, readonly Rule[]>> = {
  'polite-crawlers': [
    {
      id: 'polite-training',
      match: { purpose: ['training'] },
      limit: { key: 'operator', kind: 'bucket', max: 60, window: '1m', burst: 10 },
      action: 'throttle',
    },
    {
      id: 'polite-crawler',
      match: { purpose: ['seo', 'archive', 'monitor', 'feed', 'security', 'ai-search'] },
      limit: { key: 'operator', kind: 'bucket', max: 300, window: '1m', burst: 50 },
      action: 'throttle',
    },
  ],
  'login-guard': [
    {
      id: 'login-guard',
      match: LOGIN,
      limit: { key: 'client', max: 10, window: '1h' },
      action: 'throttle',
    },
    {
      id: 'login-guard-network',
      match: { ...LOGIN, networkClass: ['hosting', 'datacenter', 'vpn', 'residential_proxy', 'tor'] },
      limit: { key: 'prefix', max: 30, window: '1h' },
      action: 'throttle',
    },
  ],
  'api-fair-use': [
    {
      id: 'api-fair-use',
      match: { path: ['/api/**'] },
      limit: { key: 'client', kind: 'bucket', max: 600, window: '1m', burst: 100 },
      concurrent: { key: 'client', max: 20 },
      action: 'throttle',
    },
    {
      id: 'api-fair-use-user',
      match: { path: ['/api/**'] },
      limit: { key: 'user', max: 1_200, window: '1m' },
      action: 'throttle',
    },
  ],
  // It bans: no rule of it refuses a request.
  'scanner-guard': [],
}

/** Bans of `scanner-guard`: so many different probes. */
export const SCANNER_GUARD: Strikes = { count: 5, window: '1m', on: [], for: '1h' }
