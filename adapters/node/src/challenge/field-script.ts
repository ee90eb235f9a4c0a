import { compactScript, WORK_SCRIPT } from './work-script.ts'

/**
 * Writes `field.js`, which gives each form with an element of the class `sallyport` a hidden field `sallyport-token`. The work begins when
 * a visitor uses the form, because pages have forms that no visitor sends. A form that is sent earlier waits for the token. A form that
 * cannot get puzzles is sent without a token: the server then shows its own page.
 *
 * A token works once, for five minutes, so the script earns the next token after each submission, and when the browser restores a page from
 * its cache. Until then the field keeps its value, because an application may read it a moment after the event.
 */
export function fieldScript(path: string): string {
  return SCRIPT.replace('PATH', () => JSON.stringify(`${path}/field`))
}

const SCRIPT = compactScript(`(function () {
  'use strict'
  var doc = document, base = PATH, NAME = 'sallyport-token'
  if (!window.fetch || !window.MessageChannel || !HTMLFormElement.prototype.requestSubmit) return
  ${WORK_SCRIPT}
  function token(action, hear) {
    return fetch(base + '?action=' + encodeURIComponent(action || 'form'), { cache: 'no-store', credentials: 'same-origin' })
      .then(function (answer) { return answer.ok ? answer.json() : Promise.reject(answer.status) })
      .then(function (d) {
        if (hear) hear(d)
        return new Promise(function (done) {
          findNumbers(d.challenge, d.puzzles, d.bits, function () {}, function (numbers) { done(d.challenge + '.' + numbers) })
        })
      })
  }
  window.sallyport = Object.assign(window.sallyport || {}, { token: function (action) { return token(action) } })

  function attach(place) {
    var form = place.closest('form')
    if (!form || form.elements[NAME]) return
    var field = doc.createElement('input'), status = doc.createElement('span')
    var pending, made = 0, life = 0, text = '', passing = false
    field.type = 'hidden'
    field.name = NAME
    status.setAttribute('role', 'status')
    place.appendChild(field)
    place.appendChild(status)

    function isFresh() { return field.value !== '' && Date.now() - made < life }
    function earn() {
      if (pending || isFresh()) return pending || Promise.resolve()
      field.value = ''
      made = Date.now()
      return pending = token(place.getAttribute('data-action'), function (d) {
        life = (d.seconds - 30) * 1000
        text = place.getAttribute('data-text') || d.text
        if (passing) status.textContent = text
      }).then(function (value) {
        pending = undefined
        field.value = value
        place.dispatchEvent(new CustomEvent('sallyport-token', { bubbles: true, detail: value }))
      }, function () { pending = undefined })
    }
    function use() { life = 0 }

    form.addEventListener('focusin', earn)
    form.addEventListener('submit', function (event) {
      if (passing === 'sent' || isFresh()) {
        passing = false
        use()
        return
      }
      event.preventDefault()
      event.stopImmediatePropagation()
      if (passing) return
      passing = true
      status.textContent = text
      var button = event.submitter
      earn().then(function () {
        status.textContent = ''
        passing = 'sent'
        form.requestSubmit(button && button.form === form ? button : undefined)
        passing = false
      })
    }, true)
    window.addEventListener('pageshow', function (event) { if (event.persisted) use() })
  }

  function attachAll() { doc.querySelectorAll('.sallyport').forEach(attach) }
  if (doc.readyState === 'loading') doc.addEventListener('DOMContentLoaded', attachAll)
  else attachAll()
  if (window.MutationObserver) new MutationObserver(attachAll).observe(doc.documentElement, { childList: true, subtree: true })
})()
`)
