import { compactScript, WORK_SCRIPT } from './work-script.ts'

/**
 * Writes `pass.js`, with which the requests of an application earn a pass without a page. It wraps `fetch` and XMLHttpRequest: a request to
 * this site that gets `challenge_required` is solved and repeated once. An accepted request that is redirected to a refused path goes on
 * there by GET and is not sent twice; its response stays `redirected`, without which Turbo shows nothing. A refusal in HTML has no challenge
 * that a script can read, so the script requests one from the place of the page. A form with POST earns its pass first, because a native
 * submission cannot be repeated.
 *
 * XMLHttpRequest calls listeners in the order of their addition. The constructor adds ours, so that they can hold back the events of the
 * first answer. A repeated `open()` keeps the settings of the request, but not its header fields.
 */
export function passScript(path: string): string {
  return SCRIPT.replace('PATH', () => JSON.stringify(`${path}/pass`))
}

const SCRIPT = compactScript(`(() => {
  'use strict'
  const w = self, doc = w.document, base = PATH, native = w.fetch, X = w.XMLHttpRequest
  let pending, passes = 0, level = 0, ready, held
  ${WORK_SCRIPT}
  const readUrl = url => new URL(url, doc ? doc.baseURI : location)
  const isOurs = url => readUrl(url).origin === location.origin
  const solve = async d => {
    try {
      const numbers = await new Promise(done => d.puzzles
        ? findNumbers(d.challenge, d.puzzles, d.bits, () => {}, done)
        : setTimeout(done, d.wait * 1e3, ''))
      const headers = { 'sallyport-solution': d.challenge + '.' + numbers }
      for (let tries = 0; ; tries++) {
        const answer = await native(d.pass, { method: 'POST', headers }), given = +answer.headers.get('sallyport-pass')
        if (given) {
          level = given
          passes++
          return true
        }
        if (tries > 4 || !/429|503/.test(answer.status)) return false
        const least = Math.min(answer.headers.get('retry-after') || 0, 60) || 0
        await new Promise(done => setTimeout(done, (Math.max(least, 2 ** tries) + Math.random()) * 1e3))
      }
    } catch { return false }
  }
  const earn = async (d, began) => {
    if (!d || !d.challenge) return false
    if (began < passes && level >= d.level) return true
    if (!pending || pending.level < d.level) {
      const mine = pending = solve(d)
      mine.level = d.level
      mine.then(() => { if (pending === mine) pending = 0 })
    }
    return pending
  }
  const pass = async (url, method, began, answer) => {
    try {
      if (answer) try { return await earn((await answer.json()).details, began) } catch {}
      const { pathname, search } = readUrl(url), to = base + '?method=' + method + '&to=' + encodeURIComponent(pathname + search)
      const asked = await native(to, { headers: { accept: 'application/json' }, cache: 'no-store' })
      return asked.headers.has('sallyport-pass') || asked.status === 403 && earn((await asked.json()).details, began)
    } catch { return false }
  }
  w.sallyport = Object.assign(w.sallyport || {}, { pass: (url = location.href, method = 'GET') => pass(url, method, passes) })
  const isRead = method => /^(get|head)$/i.test(method)

  w.fetch = async (input, init) => {
    const began = passes, isRequest = input instanceof Request, { body, credentials } = init || {}
    if ((credentials || input.credentials) === 'omit' || body instanceof ReadableStream || !isOurs(isRequest ? input.url : input))
      return native(input, init)
    const again = isRequest ? input.clone() : input, method = init && init.method || input.method || 'GET'
    const answer = await native(input, init), { url, redirected } = answer, isMoved = redirected && !isRead(method)
    if (answer.status !== 403 || !answer.headers.has('sallyport-challenge') || !isOurs(url)) return answer
    if (!await pass(url, isMoved ? 'GET' : method, began, answer.clone())) return answer
    if (!isMoved) return native(again, init)
    const { headers, signal } = new Request(again, init)
    return Object.defineProperty(await native(url, { headers, signal }), 'redirected', { value: true })
  }

  if (X) w.XMLHttpRequest = class XMLHttpRequest extends X {
    constructor() {
      super()
      for (const type of ['readystatechange', 'progress', 'load', 'loadend']) this.addEventListener(type, event => {
        const s = this._s
        if (!s || s.done || !(s.held = s.held || this.status === 403 && this.getResponseHeader('sallyport-challenge'))) return
        event.stopImmediatePropagation()
        if (type === 'loadend') this._again(s)
      })
    }
    open(...args) {
      this._s = args[2] === false || !isOurs(args[1]) ? 0 : { args, fields: [], began: passes }
      super.open(...args)
    }
    setRequestHeader(...field) {
      super.setRequestHeader(...field)
      if (this._s) this._s.fields.push(field)
    }
    send(body) {
      if (this._s) this._s.body = body
      super.send(body)
    }
    abort() {
      const s = this._s
      this._s = 0
      super.abort()
      if (s && s.held && !s.done) this._tell('abort', 'loadend')
    }
    _tell(...types) {
      for (const type of types) this.dispatchEvent(new ProgressEvent(type))
    }
    async _again(s) {
      const [method, to, ...more] = s.args, url = this.responseURL, isMoved = !isRead(method) && url !== readUrl(to).href.split('#')[0]
      const answer = new Response(this.responseType === 'json' ? JSON.stringify(this.response) : this.response)
      const isEarned = await pass(url, isMoved ? 'GET' : method, s.began, answer)
      if (this._s !== s) return
      if (isEarned) {
        super.open(...isMoved ? ['GET', url, ...more] : s.args)
        for (const field of s.fields) super.setRequestHeader(...field)
      }
      s.done = 1
      if (isEarned) super.send(isMoved ? null : s.body)
      else this._tell('readystatechange', 'load', 'loadend')
    }
  }

  if (doc) w.addEventListener('submit', async event => {
    const form = event.target, button = event.submitter
    const read = name => (button && button.getAttribute('form' + name)) || form.getAttribute(name) || ''
    const url = read('action') || location.href
    if (form === ready || read('method').toLowerCase() !== 'post' || !form.requestSubmit || !isOurs(url)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (form === held) return
    held = form
    await pass(url, 'POST', passes)
    held = 0
    ready = form
    form.requestSubmit(button && button.form === form ? button : null)
    ready = 0
  }, true)
})()
`)
