/** Addresses of the routed IPv4 space by a small seeded generator, so that every run asks the same ones. */
export function visitorAddresses(count: number): readonly string[] {
  const addresses: string[] = []
  let state = 20_261_121
  while (addresses.length < count) {
    // xorshift32: even enough for a bench, and the same on every machine.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    const first = (state >>> 24) % 224
    if (first === 0 || first === 10 || first === 127) continue
    addresses.push(`${first}.${(state >>> 16) & 255}.${(state >>> 8) & 255}.${state & 255}`)
  }
  return addresses
}
