/** Codes of RFC 5731 section 2.3 and RFC 3915 section 3.1, and those that registries add to them. */
const CODES = [
  ...['addPeriod', 'autoRenewPeriod', 'renewPeriod', 'transferPeriod', 'redemptionPeriod'],
  ...['pendingCreate', 'pendingDelete', 'pendingRenew', 'pendingRestore', 'pendingTransfer', 'pendingUpdate'],
  ...['clientDeleteProhibited', 'clientHold', 'clientRenewProhibited', 'clientTransferProhibited'],
  ...['clientUpdateProhibited', 'serverDeleteProhibited', 'serverHold', 'serverRenewProhibited'],
  ...['serverTransferProhibited', 'serverUpdateProhibited', 'serverRecoverProhibited', 'inactive', 'ok', 'linked'],
  ...['associated', 'deleteProhibited', 'renewProhibited', 'transferProhibited', 'updateProhibited'],
]

const BY_LETTERS: ReadonlyMap<string, string> = new Map(CODES.map((code) => [code.toLowerCase(), code]))

const LONGEST_STATUS = 100
const MOST_STATUSES = 32

/**
 * The statuses that a text names: EPP codes in their own spelling however they were written (`CLIENT HOLD`,
 * `client-hold`, with a URL or an explanation behind), what is no EPP code in the registry's words.
 */
export function parseStatuses(text: string): readonly string[] {
  return text
    .slice(0, LONGEST_STATUS * MOST_STATUSES)
    .split(/[,;]/)
    .slice(0, MOST_STATUSES)
    .map((part) => statusOf(part.replace(/https?:\S*/gi, ' ').trim()))
    .filter((status) => /[a-z\u0080-\uffff]/i.test(status))
}

function statusOf(text: string): string {
  const whole = BY_LETTERS.get(letters(text))
  if (whole !== undefined) return whole
  // `clientHold (registrar lock)`, `clientHold - Status prevents …`, `ok https://…`
  const first = BY_LETTERS.get(letters(text.split(/[\s(]/, 1)[0] ?? ''))
  return first ?? (text.slice(0, LONGEST_STATUS).split('(', 1)[0] ?? '').trim()
}

function letters(text: string): string {
  return text
    .slice(0, LONGEST_STATUS)
    .toLowerCase()
    .replace(/[\s_-]/g, '')
}
