export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

export function bytesOfHex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}
