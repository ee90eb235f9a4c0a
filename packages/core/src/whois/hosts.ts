const LONGEST_HOST = 253
const MOST_HOSTS = 64

/** ASCII by its rules and anything beyond it: patterns by Unicode property take V8 milliseconds to make ready. */
const LABEL = /^[a-z\d\u0080-\uffff](?:[a-z\d\u0080-\uffff-]{0,61}[a-z\d\u0080-\uffff])?$/

/** What registries write where there is no server. */
const NO_HOST = new Set(['not.defined'])

/** The hostnames in a text, lower case and without the trailing dot; addresses, e-mail addresses and URLs are none. */
export function hostsIn(text: string): readonly string[] {
  return text
    .split(/[\s,;()[\]<>"']+/)
    .map((token) => token.toLowerCase().replace(/\.$/, ''))
    .filter(isHost)
    .slice(0, MOST_HOSTS)
}

function isHost(token: string): boolean {
  if (token.length > LONGEST_HOST || !token.includes('.') || NO_HOST.has(token)) return false
  const labels = token.split('.')
  const top = labels.at(-1) ?? ''
  return labels.every((label) => LABEL.test(label)) && /^(?:[a-z\u0080-\uffff]{2,63}|xn--[a-z\d-]+)$/.test(top)
}
