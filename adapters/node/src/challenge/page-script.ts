import { compactScript, WORK_SCRIPT } from './work-script.ts'

/**
 * The script of the page, as sent: the Content-Security-Policy has its hash. It solves the puzzles, posts the numbers and loads the page
 * again; with a provider it posts what the provider's script writes into its field. It waits for the first frame, which the first slice of
 * work would keep from being painted; a background tab has no frames, so a timer starts the work there.
 *
 * The page works without the script, which therefore first disables the refresh that follows it. A solution fails when the reload shows the
 * challenge once more; after five failures the page gives up. A later load, or a load by a link, counts as another visit. A frame that may
 * store only cookies counts failures in a cookie. The script never reloads the page of a form, which would send the form.
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
