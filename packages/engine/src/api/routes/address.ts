import { type Address, classify, formatAddress, parseAddress, SallyportError, type Snapshot } from '@sallyport/core'

/** Reads `{ip}` of a path as an address. Throws `invalid_ip`. */
export function readAddress(text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw new SallyportError('invalid_ip')
  return address
}

/**
 * Finds the network verdict of `{ip}`, and the address as responses write it. Throws `service_unavailable` when no network data is loaded,
 * because `isVpn: false` would be a claim; a reserved address needs no data.
 */
export function findNetwork(text: string, snapshot: Snapshot) {
  const address = readAddress(text)
  const finding = classify(address, snapshot)
  if (snapshot.networks === undefined && !finding.reserved.reserved) throw new SallyportError('service_unavailable')
  return { ip: formatAddress(address), finding }
}
