/** Says what replaces each key of earlier versions. Keys are paths: `*` is any name, `[]` an entry of a list, and `|` separates names. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'data.from':
    'Let one process compile the data, and others open its dataDir with data.readOnly: true, or set data.mirror.',
  'data.fromKey': 'Compiled data is no longer downloaded; data.from was removed too.',
  bans: 'Read bans from GET /bans.txt of the admin listener, also for CrowdSec. For fail2ban, see examples/fail2ban.',
  extAuthz: "Use Envoy's HTTP check with forwardAuth: envoy, as in examples/envoy/envoy.yaml.",
  usage: 'Add the licence to robots.file, and block uses by rules, which robots.txt then includes.',
  'robots.signals': 'Block uses by rules, which robots.txt then includes, or add Content-Signal lines to robots.file.',
  'policy.rules.[].limit.refill': 'A bucket refills max per window, up to burst.',
  'api.cors':
    'Call /v1 from your server, so that no page contains a key, or add CORS headers in the server in front of /v1.',
  'api.docs': 'GET /v1/docs is served whenever api.enabled is true.',
  'counting.share': 'The share is 0.5 while Redis does not respond.',
  'decoys.link': 'The example site always has hidden links to decoys.paths.',
  'handoff.keys.[].algorithm': 'The secret decides: ed25519 for a PEM private key, else hmac-sha256.',
  'lists.*.pull': 'Rename it to refresh.',
  'routes.[].health.interval|timeout': 'Health checks run every 10s with a timeout of 2s.',
  'challenge.status': 'The status is always 403.',
  'challenge.provider.name|script|origins|element|attributes|field|verify|sendAddress':
    'Set kind (turnstile, hcaptcha, recaptcha or cap), siteKey and secret, or pass your own challengeProvider to open().',
  'whois.rdapBootstrap': 'Set data.sources.rdap-dns.url to the file.',
  earlyHints: 'Early hints (103) are always sent to clients that support them.',
  'limits.ipv6Prefix': 'The limit is 64 per network, and sixteen times as much per /48.',
  'limits.originQueue': 'The limit is 1024. Set timeouts.queue to limit the wait.',
  'limits.originHeadBytes': 'The limit is 32 KiB.',
  'limits.pipelined': 'The limit is 16.',
  'limits.tunnelsPerClient': 'The limit is 64. Set limits.tunnels for all clients together.',
  'limits.bufferedBytes': 'The limit is 64 MiB.',
  'limits.heapUsed': 'The limit is 0.9. Set limits.eventLoopDelay to shed requests earlier.',
  'timeouts.clientHello': 'The timeout is 5s. Set timeouts.header for the rest of the head.',
  'timeouts.handshake': 'The timeout is 10s.',
  'timeouts.clientUnread': 'The timeout is 2m. Set timeouts.idleBody for request bodies.',
  'timeouts.minRate': 'The minimum is 500 bytes a second.',
  'webBotAuth.discover': 'Add "*" to webBotAuth.agents to accept any agent that names its keys.',
  'webBotAuth.testKeys': 'Keys with a published private half are never accepted. Generate your own key.',
  'webBotAuth.payment':
    'Add agents that sign with Web Bot Auth to webBotAuth.agents. Tags of payment networks are not read.',
}

/** Returns the sentence for a key of an earlier version; `undefined` for any other key. */
export function removal(path: readonly PropertyKey[]): string | undefined {
  const isPath = (parts: readonly string[]) =>
    parts.length === path.length &&
    parts.every((part, at) => part === '*' || part === '[]' || part.split('|').includes(String(path[at])))
  return Object.entries(REMOVED_KEYS).find(([key]) => isPath(key.split('.')))?.[1]
}
