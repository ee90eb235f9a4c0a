const MAX_HEADER = 14

/** Follows the frames in one direction of a WebSocket (RFC 6455 5.2), without keeping or unmasking anything. */
export class Frames {
  readonly #header = Buffer.alloc(MAX_HEADER)
  #headerBytes = 0
  #payloadLeft = 0

  /** Reports whether all frames so far are complete: a frame of ours may follow. */
  get areWhole(): boolean {
    return this.#headerBytes === 0 && this.#payloadLeft === 0
  }

  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, bytes.length - at)
        this.#payloadLeft -= taken
        at += taken
        continue
      }
      this.#header[this.#headerBytes++] = bytes[at++] as number
      if (this.#headerBytes < this.#headerLength()) continue
      this.#payloadLeft = this.#payloadLength()
      this.#headerBytes = 0
    }
  }

  /** Returns the bytes in the head of the current frame; its first two bytes say how many. */
  #headerLength(): number {
    if (this.#headerBytes < 2) return 2
    const second = this.#header[1] as number
    const length = second & 0x7f
    return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + (second & 0x80 ? 4 : 0)
  }

  #payloadLength(): number {
    const length = (this.#header[1] as number) & 0x7f
    if (length === 126) return this.#header.readUInt16BE(2)
    return length === 127 ? Number(this.#header.readBigUInt64BE(2)) : length
  }
}

const GOING_AWAY = 1001

/** Creates a close frame that says that this endpoint goes away (RFC 6455 7.4.1); a client's frame is masked. */
export function closeFrame(mask?: Buffer): Buffer {
  const code = Buffer.from([GOING_AWAY >> 8, GOING_AWAY & 0xff])
  if (mask === undefined) return Buffer.concat([Buffer.from([0x88, code.length]), code])
  return Buffer.concat([
    Buffer.from([0x88, 0x80 | code.length]),
    mask,
    code.map((byte, at) => byte ^ (mask[at] as number)),
  ])
}
