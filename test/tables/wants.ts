import { AGENT, type Asking, FIREFOX, GOOGLE, GOOGLEBOT, HOME, https, RACK, TOR } from './wishes.ts'

/** A row of the table "You want …" of README: the policy, the command that shows it, and a request that it is about. */
export interface Want {
  readonly want: string
  readonly policy: string
  readonly command: string
  /** The rule that decides `met`; `unmet` is left to the default. */
  readonly rule: string
  readonly met: Asking
  readonly unmet: Asking
}

const VPN = '45.83.220.10'
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

const rule = (id: string, text: string) => `rules: [{ id: ${id}, ${text} }]`

export const WANTS: readonly Want[] = [
  {
    want: 'AI crawlers off the site',
    policy: rule('no-ai', 'match: { purpose: [training, ai-search] }, action: block'),
    command: 'npx sallyport simulate --as gptbot',
    rule: 'policy:no-ai',
    met: { peer: RACK, headers: { 'User-Agent': 'GPTBot/1.2' } },
    unmet: { peer: HOME, headers: FIREFOX },
  },
  {
    want: 'scrapers that say they are Chrome to prove it',
    policy: rule(
      'no-chrome',
      'match: { userAgent: ["*Chrome/*"], header: { absent: [accept-language] } }, action: challenge',
    ),
    command: 'npx sallyport simulate --as scripted-chrome',
    rule: 'policy:no-chrome',
    met: { peer: RACK, headers: { 'User-Agent': CHROME, Accept: '*/*' }, ...https },
    unmet: { peer: HOME, headers: { ...FIREFOX, 'User-Agent': CHROME }, ...https },
  },
  {
    want: 'VPNs out of sign-up',
    policy: rule('no-vpn', 'match: { networkClass: [vpn, residential_proxy], path: [/signup] }, action: block'),
    command: `npx sallyport simulate --as browser --ip ${VPN} --path /signup`,
    rule: 'policy:no-vpn',
    met: { peer: VPN, headers: FIREFOX, target: '/signup' },
    unmet: { peer: VPN, headers: FIREFOX },
  },
  {
    want: 'failed logins challenged, by visitor and network',
    policy: 'limits: [login-guard]',
    command: 'npx sallyport simulate --as browser --method POST --path /login',
    rule: 'policy:login-guard',
    met: { peer: HOME, headers: FIREFOX, target: '/login', method: 'POST', times: 11, status: 401 },
    unmet: { peer: HOME, headers: FIREFOX, target: '/login', method: 'POST', times: 60, status: 303 },
  },
  {
    want: 'credential stuffing challenged, from any number of addresses',
    policy: 'limits: [account-guard]',
    command: 'npx sallyport simulate --as browser --event login',
    rule: 'policy:account-guess',
    met: { peer: HOME, headers: FIREFOX, times: 11, login: 'failure' },
    unmet: { peer: HOME, headers: FIREFOX, times: 60, login: 'success' },
  },
  {
    want: 'Googlebot never touched',
    policy: rule('let-google', 'match: { identity: [googlebot] }, action: allow'),
    command: 'npx sallyport simulate --as googlebot --ip 66.249.66.1',
    rule: 'policy:let-google',
    met: { peer: GOOGLE, headers: GOOGLEBOT },
    unmet: { peer: RACK, headers: GOOGLEBOT },
  },
  {
    want: 'Tor may read, but not check out',
    policy: rule('no-tor', 'match: { networkClass: [tor], path: [/checkout/**] }, action: block'),
    command: `npx sallyport simulate --as browser --ip ${TOR} --path /checkout/pay`,
    rule: 'policy:no-tor',
    met: { peer: TOR, headers: FIREFOX, target: '/checkout/pay' },
    unmet: { peer: TOR, headers: FIREFOX },
  },
  {
    want: 'one customer unblocked',
    policy: 'allowlist: [5.9.10.0/24]',
    command: `npx sallyport simulate --as curl --ip ${RACK}`,
    rule: 'policy:allowlist',
    met: { peer: RACK, headers: { 'User-Agent': AGENT } },
    unmet: { peer: '5.9.11.20', headers: { 'User-Agent': AGENT } },
  },
]
