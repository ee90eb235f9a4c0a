/**
 * The script of the page, as it is sent: what its Content-Security-Policy names is this text. It finds for each puzzle the
 * number whose SHA-256 begins with so many zero bits, in slices of some milliseconds on the page's own thread, gives the
 * numbers back and opens the page again. It has no parts that browsers keep from plain HTTP or from strict sites: no
 * SubtleCrypto, no WebAssembly, no worker. Messages in place of timers, which a tab in the background hardly has. It begins once there is a
 * frame of the page, which the first slice would keep from being painted; a tab in the background has none.
 *
 * The script of a provider that asks is loaded once cookies are known to be kept; what that writes into its field is given back.
 *
 * The page is whole without it: first it puts away the refresh, which stands behind it (D440), and keeps that time itself
 * until the work is done, so that a busy server is asked again instead of left. In five minutes a tab is asked five times; a frame that
 * may keep nothing but cookies counts in one.
 */
export const PAGE_SCRIPT = `
(function () {
  'use strict'
  if (!window.fetch || !window.MessageChannel) return
  try { document.write('<template>') } catch (_) {}
  addEventListener('pageshow', function (event) { if (event.persisted) location.reload() })
  document.addEventListener('DOMContentLoaded', function () {
    var data = document.querySelector('main').dataset
    var bar = document.querySelector('progress')
    var link = document.getElementById('again')
    var url = link.firstChild.href
    var numbers = [], number = 0, came = 1, token = ''
    function say(text, isStuck) {
      document.getElementById('said').textContent = text
      link.hidden = !isStuck
      if (bar) bar.hidden = isStuck
    }

    try {
      document.cookie = 'sallyport-test=1; path=/; ' + data.site
      var kept = document.cookie.indexOf('sallyport-test=1') !== -1
      document.cookie = 'sallyport-test=; path=/; max-age=0; ' + data.site
    } catch (_) { kept = false }
    var was = ''
    try { was = sessionStorage.getItem('sallyport-asked') } catch (_) {
      if (kept) was = (/sallyport-asked=([\\d.]+)/.exec(document.cookie) || [])[1]
    }
    was = (was || '').split('.')
    var since = Date.now() - was[1] < 300000 ? was[1] : Date.now()
    if (since === was[1]) came += +was[0]
    try { sessionStorage.setItem('sallyport-asked', came + '.' + since) } catch (_) {
      if (kept) document.cookie = 'sallyport-asked=' + came + '.' + since + '; path=/; max-age=300; ' + data.site
    }
    if (!kept) return say(data.cookies, true)
    if (came > 5) return say(data.failed, true)
    say(data.time, false)
    if (data.wait > 0) setTimeout(function () {
      if (numbers.length < data.puzzles) location.replace(url)
    }, data.wait * 1000)

    if (data.script) {
      var form = document.querySelector('form')
      var script = document.createElement('script')
      var watch = setInterval(function () {
        var field = form.elements[data.field]
        if (field && field.value) answered(field.value)
      }, 200)
      function answered(value) {
        clearInterval(watch)
        token = value
        give(0)
      }
      script.onerror = function () { answered('') }
      script.async = true
      script.src = data.script
      document.head.appendChild(script)
      return
    }

    var K = new Int32Array(64), H = new Int32Array(8)
    for (var n = 2, k = 0; k < 64; n++) {
      for (var f = 2; f * f <= n && n % f; f++);
      if (f * f <= n) continue
      if (k < 8) H[k] = fraction(Math.sqrt(n))
      K[k++] = fraction(Math.cbrt(n))
    }
    function fraction(x) { return (x - Math.floor(x)) * 4294967296 }

    var text = atob(data.challenge.replace(/-/g, '+').replace(/_/g, '/'))
    var W = new Int32Array(64)
    for (var at = 0; at < 32; at++) W[at >> 2] = W[at >> 2] << 8 | text.charCodeAt(text.length - 32 + at)
    W[10] = 1 << 31
    W[15] = 320

    function first(place, number) {
      W[8] = place
      W[9] = number
      for (var i = 16; i < 64; i++) {
        var x = W[i - 15], y = W[i - 2]
        W[i] = W[i - 16] + W[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) +
          ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10)
      }
      var a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7]
      for (i = 0; i < 64; i++) {
        var t = (h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g) + K[i] + W[i]) | 0
        var u = (((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c)) | 0
        h = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + u) | 0
      }
      return (H[0] + a) >>> 0
    }

    var channel = new MessageChannel()
    var zeros = 32 - data.bits, began = false
    channel.port1.onmessage = function () {
      var end = Date.now() + 12
      while (numbers.length < data.puzzles) {
        if (first(numbers.length, number) >>> zeros === 0) {
          numbers.push(number)
          number = 0
          bar.value = numbers.length
        } else number++
        if ((number & 31) === 0 && Date.now() > end) return channel.port2.postMessage(0)
      }
      give(0)
    }
    function begin() {
      if (began) return
      began = true
      channel.port2.postMessage(0)
    }
    if (window.requestAnimationFrame) requestAnimationFrame(begin)
    setTimeout(begin, 50)

    function send(url, method) {
      var headers = { 'sallyport-solution': data.challenge + '.' + (data.script ? token : numbers.join(',')) }
      return fetch(url, { method: method, headers: headers, credentials: 'same-origin', cache: 'no-store' })
    }
    function give(tries) {
      send(data.path, 'POST').then(function (answer) {
        var isOurs = answer.headers.has('sallyport-pass') || answer.status === 429 || answer.status === 503
        return isOurs ? answer : send(location.href, 'GET')
      }).then(function (answer) {
        var pass = answer.headers.get('sallyport-pass')
        if (pass === null || answer.status === 429) return later(tries, answer)
        if (pass !== 'refused') say(data.done, false)
        setTimeout(function () { location.reload() }, came > 1 ? came * 1000 : 0)
      }).catch(function () { later(tries) })
    }
    function later(tries, answer) {
      if (tries === 5) return say(data.failed, true)
      if (answer) say(data.busy, false)
      var least = answer ? Math.min(answer.headers.get('retry-after') || 0, 60) : 0
      var seconds = Math.max(least || 0, Math.pow(2, tries)) + Math.random()
      setTimeout(function () { give(tries + 1) }, seconds * 1000)
    }
  })
})()
`
