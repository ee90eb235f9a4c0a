/**
 * `findNumbers` in the script of the page and in `pass.js`: finds for each puzzle the number whose SHA-256 begins with the required zero
 * bits, in slices of some milliseconds on the page's own thread. It avoids what browsers deny to plain HTTP or to strict sites:
 * SubtleCrypto, WebAssembly and workers. Messages replace timers, which browsers slow down in background tabs.
 */
export const WORK_SCRIPT = `
  function findNumbers(challenge, puzzles, bits, each, done) {
    var K = new Int32Array(64), H = new Int32Array(8), W = new Int32Array(64), numbers = [], number = 0
    for (var n = 2, k = 0; k < 64; n++) {
      for (var f = 2; f * f <= n && n % f; f++);
      if (f * f <= n) continue
      if (k < 8) H[k] = Math.sqrt(n) % 1 * 4294967296
      K[k++] = Math.cbrt(n) % 1 * 4294967296
    }
    var text = atob(challenge.replace(/-/g, '+').replace(/_/g, '/'))
    for (var at = 0; at < 32; at++) W[at >> 2] = W[at >> 2] << 8 | text.charCodeAt(text.length - 32 + at)
    W[10] = 1 << 31
    W[15] = 320

    function turn(x, n) { return x >>> n | x << 32 - n }
    function first() {
      W[8] = numbers.length
      W[9] = number
      for (var i = 16; i < 64; i++) {
        var x = W[i - 15], y = W[i - 2]
        W[i] = W[i - 16] + W[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10)
      }
      var a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7]
      for (i = 0; i < 64; i++) {
        var t = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + K[i] + W[i] | 0
        var u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0
        h = g; g = f; f = e; e = d + t | 0; d = c; c = b; b = a; a = t + u | 0
      }
      return H[0] + a >>> 0
    }

    var channel = new MessageChannel()
    channel.port1.onmessage = function () {
      var end = Date.now() + 12
      while (numbers.length < puzzles) {
        if (first() >>> 32 - bits) number++
        else {
          numbers.push(number)
          number = 0
          each(numbers.length)
        }
        if (!(number & 31) && Date.now() > end) return channel.port2.postMessage(0)
      }
      channel.port1.close()
      done(numbers)
    }
    channel.port2.postMessage(0)
  }
`

/** Removes the indentation of a script before it is sent. */
export function compactScript(text: string): string {
  return text.replace(/^ +|^\n/gm, '')
}
