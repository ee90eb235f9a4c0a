/* Load balancers that name their clients by the PROXY protocol. */

const V2_START = '\r\n\r\n\0\r\nQUIT\n'

export function v1(source: string, family = 'TCP4', destination = '192.0.2.1'): string {
  return `PROXY ${family} ${source} ${destination} 4711 443\r\n`
}

/** Writes a header of version 2 with these bytes of addresses and of whatever else a balancer says. */
export function v2Header(command: number, family: number, rest: readonly number[] = []): string {
  return V2_START + Buffer.from([command, family, rest.length >> 8, rest.length & 0xff, ...rest]).toString('latin1')
}

/** Writes a header of version 2 of an IPv4 connection; `told` follows its addresses. */
export function v2(source: string, { told = [] as readonly number[], command = 0x21, family = 0x11 } = {}): string {
  const addresses = [...source.split('.').map(Number), 192, 0, 2, 1, 0x12, 0x67, 1, 187]
  return v2Header(command, family, [...addresses, ...told])
}
