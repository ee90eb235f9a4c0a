/**
 * The script of the page, as it is sent: what its Content-Security-Policy names is this text. It finds for each puzzle the
 * number whose SHA-256 begins with so many zero bits, in slices of some milliseconds on the page's own thread, gives the
 * numbers back and opens the page again. It has no parts that browsers keep from plain HTTP or from strict sites: no
 * SubtleCrypto, no WebAssembly, no worker.
 */
export const PAGE_SCRIPT = `
(function () {
  'use strict'
  var main = document.querySelector('main')
  var data = main.dataset
  var bar = document.querySelector('progress')
  var say = function (name) {
    document.getElementById('said').textContent = data[name]
    if (name !== 'done') document.getElementById('again').hidden = false
  }
  var state = history.state || {}
  var came = (state.sallyport || 0) + 1
  document.cookie = 'sallyport-test=1; path=/; SameSite=Lax'
  var kept = document.cookie.indexOf('sallyport-test=1') !== -1
  document.cookie = 'sallyport-test=; path=/; max-age=0; SameSite=Lax'
  if (!kept) return say('cookies')
  if (came > 3) return say('failed')
  history.replaceState(Object.assign({}, state, { sallyport: came }), '')

  var K = [], H = []
  for (var n = 2; K.length < 64; n++) {
    for (var f = 2; f * f <= n && n % f; f++);
    if (f * f <= n) continue
    if (H.length < 8) H.push(fraction(Math.sqrt(n)))
    K.push(fraction(Math.cbrt(n)))
  }
  function fraction(x) { return ((x - Math.floor(x)) * 4294967296) | 0 }

  var text = atob(data.challenge.replace(/-/g, '+').replace(/_/g, '/'))
  var W = new Int32Array(64)
  for (var at = 0; at < 8; at++) {
    var from = text.length - 32 + at * 4
    for (var byte = 0; byte < 4; byte++) W[at] = (W[at] << 8) | text.charCodeAt(from + byte)
  }
  W[10] = 1 << 31
  W[15] = 320

  function first(place, number) {
    W[8] = place
    W[9] = number
    for (var i = 16; i < 64; i++) {
      var x = W[i - 15], y = W[i - 2]
      W[i] = (W[i - 16] + W[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) +
        ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10)) | 0
    }
    var a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7]
    for (i = 0; i < 64; i++) {
      var t = (h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g) + K[i] + W[i]) | 0
      var u = (((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c)) | 0
      h = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + u) | 0
    }
    return (H[0] + a) >>> 0
  }

  var numbers = [], number = 0
  function slice() {
    var end = Date.now() + 12
    while (numbers.length < data.puzzles) {
      if (first(numbers.length, number) >>> (32 - data.bits) === 0) {
        numbers.push(number)
        number = 0
        bar.value = numbers.length
      } else number++
      if ((number & 63) === 0 && Date.now() > end) return setTimeout(slice, 0)
    }
    give(0)
  }

  function give(tries) {
    var headers = { 'sallyport-solution': data.challenge + '.' + numbers.join(',') }
    var send = function (url, method) {
      return fetch(url, { method: method, headers: headers, credentials: 'same-origin', cache: 'no-store' })
    }
    send(data.path, 'POST').then(function (answer) {
      return answer.headers.has('sallyport-pass') ? answer : send(location.href, 'GET')
    }).then(function (answer) {
      var said = answer.headers.get('sallyport-pass')
      if (said === null || answer.status === 429 || answer.status >= 500) return later(tries)
      if (said !== 'refused') say('done')
      location.reload()
    }, function () { later(tries) })
  }
  function later(tries) {
    if (tries === 5) return say('failed')
    setTimeout(function () { give(tries + 1) }, 1000 * Math.pow(2, tries))
  }

  if (data.puzzles > 0) slice()
})()
`
