/** Keys of earlier versions, by their path, with the sentence that says what to use instead. `*` is any name in the path, `[]` an entry of a list, `|` separates names. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'data.from':
    'Have one process compile, and others open its dataDir with data.readOnly: true; or name a data.mirror of the feeds.',
  'data.fromKey': 'Nothing that is compiled is downloaded any more: data.from is gone too.',
  bans: 'GET /bans.txt of the admin listener always lists the bans, for CrowdSec too; fail2ban reads the log: examples/fail2ban.',
  extAuthz: 'Have Envoy ask over HTTP: forwardAuth: envoy, as in examples/envoy/envoy.yaml.',
  'usage.paths':
    'Have robots.signals say what is wished for the whole site, and rules of the policy what is refused below a path.',
  'api.docs': 'GET /v1/docs is there wherever the API is: api.enabled.',
  'counting.share': 'It is 0.5 while Redis does not answer.',
  'decoys.link': 'Pages of the example site always have hidden links to decoys.paths.',
  'handoff.keys.[].algorithm': 'It follows from the secret: ed25519 for a private key in PEM, else hmac-sha256.',
  'lists.*.pull': 'Rename it to refresh, which lists of a URL have too.',
  'routes.[].health.interval|timeout': 'A server is checked every 10s and has 2s to answer.',
  'challenge.status': 'It is 403.',
  'challenge.provider.name|script|origins|element|attributes|field|verify|sendAddress':
    'Name kind: turnstile, hcaptcha, recaptcha or cap, with siteKey and secret; pass any other provider to open() as challengeProvider.',
  'whois.rdapBootstrap': 'Name the file in data.sources.rdap-dns.url.',
  earlyHints: 'Early hints (103) always go to clients that are known to take them.',
  'limits.originQueue': 'It is 1024; timeouts.queue bounds how long a request waits.',
  'limits.originHeadBytes': 'It is 32 KiB.',
  'limits.pipelined': 'It is 16 for all.',
  'limits.tunnelsPerClient': 'It is 64; limits.tunnels bounds all clients together.',
  'limits.bufferedBytes': 'It is 64 MiB.',
  'limits.heapUsed': 'It is 0.9; limits.eventLoopDelay sheds requests earlier.',
  'timeouts.clientHello': 'It is 5s; timeouts.header bounds what follows.',
  'timeouts.handshake': 'It is 10s.',
  'timeouts.clientUnread': 'It is 2m; timeouts.idleBody bounds the bytes of a body.',
  'timeouts.minRate': 'It is 500 bytes a second.',
  'webBotAuth.testKeys': 'Keys whose private halves are published are never accepted: make one of your own.',
  'webBotAuth.payment':
    'Name agents that sign by Web Bot Auth in webBotAuth.agents; the tags of payment networks are not read.',
}

/** The sentence for a key of an earlier version; `undefined` for any other key. */
export function removal(path: readonly PropertyKey[]): string | undefined {
  const isPath = (parts: readonly string[]) =>
    parts.length === path.length &&
    parts.every((part, at) => part === '*' || part === '[]' || part.split('|').includes(String(path[at])))
  return Object.entries(REMOVED_KEYS).find(([key]) => isPath(key.split('.')))?.[1]
}
