import { compactScript, WORK_SCRIPT } from './work-script.ts'

/**
 * The script of the page, as it is sent: what its Content-Security-Policy names is this text. It solves the puzzles, gives the
 * numbers back and opens the page again. It begins once there is a frame of the page, which the first slice would keep from being
 * painted; a tab in the background has none.
 *
 * The script of a provider that asks is loaded once cookies are known to be kept; what that writes into its field is given back.
 *
 * The page is whole without it: first it puts away the refresh, which stands behind it, and keeps that time itself
 * until the work is done, so that a busy server is asked again instead of left. A solution after which the reload of the page shows
 * the challenge once more failed, and after five failures the page gives up. A load that begins later, or by a link, is another visit.
 * A frame that may keep nothing but cookies counts in one. The page of a form is never loaded again, which would send the form: it
 * says when that may be done. A download leaves the page as it is, which then says so.
 */
export const PAGE_SCRIPT = compactScript(`
(function () {
  'use strict'
  if (!window.fetch || !window.MessageChannel) return
  ${WORK_SCRIPT}
  try { document.write('<template>') } catch (_) {}
  document.addEventListener('DOMContentLoaded', function () {
    var data = document.querySelector('main').dataset
    var back = data.back
    var bar = document.querySelector('progress')
    var link = document.getElementById('again')
    var url = link.firstChild.href
    var numbers = [], began = false, came = 1, token = '', key = 0
    for (var i = 0, name = data.bits + url; i < name.length; i++) key = key * 31 + name.charCodeAt(i) >>> 0
    if (back) link.firstChild.onclick = function () {
      if (history.length < 2) location.assign(back)
      else history.back()
      return false
    }
    else addEventListener('pageshow', function (event) { if (event.persisted) location.reload() })
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
    var load = performance.getEntriesByType('navigation')[0]
    var isOurs = !load || load.type === 'reload'
    if (isOurs && Date.now() - performance.now() - was[1] < 2000 && +was[2] === key) came += +was[0]
    function reload() {
      var failed = came + '.' + Date.now() + '.' + key
      try { sessionStorage.setItem('sallyport-asked', failed) } catch (_) {
        document.cookie = 'sallyport-asked=' + failed + '; path=/; max-age=300; ' + data.site
      }
      location.reload()
      setTimeout(function () { say(data.done + ' ' + data.download, true) }, 3000)
    }
    if (!kept) return say(data.cookies, true)
    if (came > 5) return say(data.failed, true)
    say(data.time, false)
    if (data.wait > 0) setTimeout(function () {
      if (data.puzzles < 1) give(0)
      else if (!back && numbers.length < data.puzzles) location.replace(url)
    }, data.wait * 1000)
    if (data.puzzles < 1 && !data.script) return

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

    function begin() {
      if (began) return
      began = true
      findNumbers(data.challenge, data.puzzles, data.bits, function (found) { bar.value = found }, function (all) {
        numbers = all
        give(0)
      })
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
        return isOurs ? answer : send(back || location.href, 'GET')
      }).then(function (answer) {
        var pass = answer.headers.get('sallyport-pass')
        if (pass === null || answer.status === 429) return later(tries, answer)
        if (back) return say(pass === 'refused' ? data.failed : data.done, true)
        if (pass !== 'refused') say(data.done, false)
        setTimeout(reload, came > 1 ? came * 1000 : 0)
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
`)
